import { context, metrics, SpanStatusCode, trace, type Attributes, type Meter, type Tracer } from '@opentelemetry/api'
import { observe, type AccessEvent, type Workspace } from '@ws/core'
import type { AdapterEvent, LayerOptions, StorageAdapter } from '@ws/core/adapter'
import { checkOption, checkOptions, hasMethods, option, type OptionShapes } from '@ws/core/options'

interface TelemetryOptions {
  /** Default: `trace.getTracer('@ws/observability')`. */
  readonly tracer?: Tracer | undefined
  /** Default: `metrics.getMeter('@ws/observability')`. */
  readonly meter?: Meter | undefined
}

interface WorkspaceTelemetryOptions extends TelemetryOptions {
  /** Add command lines as the attribute `ws.command`. They may contain secrets. Default false. */
  readonly commands?: boolean | undefined
}

interface AdapterTelemetryOptions extends TelemetryOptions, LayerOptions {}

const shapes: OptionShapes<TelemetryOptions> = {
  tracer: option.of('a `Tracer` of `@opentelemetry/api`', (value) => hasMethods(value, 'startSpan')),
  meter: option.of('a `Meter` of `@opentelemetry/api`', (value) => hasMethods(value, 'createHistogram')),
}

/**
 * Traces each operation and command of a workspace as a child of the active span. Returns a function that ends tracing.
 * The histogram `ws.operation.duration` is in seconds. Spans have paths and labels; metrics have neither.
 * @throws WorkspaceError `EINVAL` that names the option
 */
export function traceWorkspace(workspace: Workspace, options: WorkspaceTelemetryOptions = {}): () => void {
  const operation = 'traceWorkspace'
  checkOption(
    operation,
    'workspace',
    workspace,
    option.of('a workspace', (value) => hasMethods(value, 'on', 'exec')),
  )
  checkOptions<WorkspaceTelemetryOptions>(options, { ...shapes, commands: option.boolean }, { operation })
  const { tracer, meter } = providers(options)
  const duration = durations(meter, 'ws.operation.duration', 'Time of operations and commands of a workspace')
  return workspace.on('access', (event) => {
    const { door, operation: name, outcome, code, time } = event
    const common: Attributes = { 'ws.door': door, 'ws.outcome': outcome, ...some('error.type', code) }
    duration.record(event.duration / 1_000, { ...common, 'ws.operation': name })
    span(tracer, `ws ${name}`, {
      startTime: time,
      duration: event.duration,
      attributes: { ...common, ...detailsOf(event, options.commands === true) },
      error: outcome === 'allowed' ? undefined : (code ?? outcome),
    })
  })
}

/**
 * Wraps an adapter. Each operation has a span, and adds to the metrics `ws.storage.duration` (seconds) and `ws.storage.bytes`.
 * The span of an iteration ends when the caller finishes or stops it. @throws WorkspaceError `EINVAL` that names the option
 */
export function traceAdapter(adapter: StorageAdapter, options: AdapterTelemetryOptions = {}): StorageAdapter {
  const operation = 'traceAdapter'
  checkOptions<AdapterTelemetryOptions>(options, { ...shapes, shared: option.boolean }, { operation })
  const { tracer, meter } = providers(options)
  const duration = durations(meter, 'ws.storage.duration', 'Time of operations of a store')
  const bytes = meter.createCounter('ws.storage.bytes', { unit: 'By', description: 'Content read and written' })
  const record = (event: Extract<AdapterEvent, { phase: 'after' }>): void => {
    const { operation: name, outcome, code } = event
    const common: Attributes = { 'ws.store': adapter.name, 'ws.outcome': outcome, ...some('error.type', code) }
    duration.record(event.duration / 1_000, { ...common, 'ws.operation': name })
    if (event.bytes !== undefined) bytes.add(event.bytes, { 'ws.store': adapter.name, 'ws.operation': name })
    span(tracer, `ws storage ${name}`, {
      startTime: Date.now() - event.duration,
      duration: event.duration,
      attributes: {
        ...common,
        'ws.path': event.path,
        ...some('ws.destination', event.destination),
        ...some('ws.bytes', event.bytes),
      },
      error: outcome === 'failed' ? (code ?? outcome) : undefined,
    })
  }
  const listener = (event: Parameters<Parameters<typeof observe>[1]>[0]): void => {
    if (event.phase === 'after') record(event)
  }
  return observe(adapter, listener, { shared: options.shared })
}

interface EndedSpan {
  /** Milliseconds since the epoch. */
  readonly startTime: number
  readonly duration: number
  readonly attributes: Attributes
  readonly error: string | undefined
}

/** Events arrive at the end of a call, in the context of the call. */
function span(tracer: Tracer, name: string, { startTime, duration, attributes, error }: EndedSpan): void {
  const started = tracer.startSpan(name, { startTime, attributes }, context.active())
  if (error !== undefined) started.setStatus({ code: SpanStatusCode.ERROR, message: error })
  started.end(startTime + duration)
}

function detailsOf(event: AccessEvent, commands: boolean): Attributes {
  const { path, resolvedPath, destination, rule, executor, exitCode, timedOut, command } = event
  const labels = Object.entries(event.labels).map(([name, value]) => [`ws.label.${name}`, value] as const)
  return {
    ...Object.fromEntries(labels),
    'ws.path': resolvedPath ?? path,
    ...some('ws.destination', destination),
    ...some('ws.rule', rule),
    ...some('ws.executor', executor),
    ...some('process.exit.code', exitCode ?? undefined),
    ...some('ws.timed_out', timedOut),
    ...(commands && some('ws.command', command)),
  }
}

function some(name: string, value: string | number | boolean | undefined): Attributes {
  return value === undefined ? {} : { [name]: value }
}

function providers({ tracer, meter }: TelemetryOptions): { readonly tracer: Tracer; readonly meter: Meter } {
  const name = '@ws/observability'
  return { tracer: tracer ?? trace.getTracer(name), meter: meter ?? metrics.getMeter(name) }
}

/** Bounds of the histogram, from a read in memory to a long command. */
const seconds = [0.0001, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 600]

function durations(meter: Meter, name: string, description: string): ReturnType<Meter['createHistogram']> {
  return meter.createHistogram(name, { unit: 's', description, advice: { explicitBucketBoundaries: seconds } })
}
