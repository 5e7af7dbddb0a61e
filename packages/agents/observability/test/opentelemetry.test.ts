import { AsyncLocalStorage } from 'node:async_hooks'

import { context, ROOT_CONTEXT, SpanStatusCode, trace, type Context, type ContextManager } from '@opentelemetry/api'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, rules } from '@ws/core'
import { afterEach, expect, it } from 'vitest'

import { traceAdapter, traceWorkspace } from '../src/opentelemetry.ts'

const exporter = new InMemorySpanExporter()
const tracer = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }).getTracer('test')
const metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
const reader = new PeriodicExportingMetricReader({ exporter: metricExporter, exportIntervalMillis: 2 ** 31 - 1 })
const meter = new MeterProvider({ readers: [reader] }).getMeter('test')

const open = () =>
  createWorkspace({
    mounts: [{ at: '/', adapter: createMemoryAdapter({ files: { '/a.md': 'four', '/k': 'k' } }) }],
    rules: [rules.deny('/k')],
    labels: { user: 'u7' },
  })

afterEach(() => exporter.reset())

it('makes one span for each operation, with its end, its labels and its error', async () => {
  const workspace = await open()
  const stop = traceWorkspace(workspace, { tracer, meter })
  await workspace.readText('/a.md')
  await workspace.move('/a.md', '/b.md')
  await workspace.readText('/k').catch(() => undefined)
  await workspace.exec('true').catch(() => undefined)
  stop()
  await workspace.readText('/b.md')
  await workspace.close()
  const spans = exporter.getFinishedSpans()
  expect(spans.map(({ name, status }) => [name, status.code === SpanStatusCode.ERROR ? status.message : 'ok'])).toEqual(
    [
      ['ws read', 'ok'],
      ['ws move', 'ok'],
      ['ws read', 'EACCES'],
      ['ws exec', 'ENOEXECUTOR'],
    ],
  )
  expect(spans[1]?.attributes).toMatchObject({ 'ws.path': '/a.md', 'ws.destination': '/b.md', 'ws.label.user': 'u7' })
  expect(spans[2]?.attributes).toMatchObject({ 'ws.outcome': 'denied', 'ws.rule': 'deny(/k)', 'error.type': 'EACCES' })
  expect(spans[3]?.attributes).not.toHaveProperty('ws.command')
  for (const { startTime, endTime } of spans) expect(endTime[0]).toBeGreaterThanOrEqual(startTime[0])
})

it('shows command lines on request only, and how commands ended', async () => {
  const workspace = await open()
  traceWorkspace(workspace, { tracer, meter, commands: true })
  await workspace.exec('echo secret').catch(() => undefined)
  await workspace.close()
  expect(exporter.getFinishedSpans().at(-1)?.attributes).toMatchObject({
    'ws.command': 'echo secret',
    'ws.door': 'exec',
  })
})

it('makes one span for each operation of a store, iterations and streams too', async () => {
  const adapter = traceAdapter(createMemoryAdapter({ files: { '/a.md': 'four' } }), { tracer, meter })
  const workspace = await createWorkspace({ mounts: [{ at: '/', adapter: () => adapter }] })
  exporter.reset()
  await workspace.write('/b.md', 'two')
  for await (const _ of workspace.list('/')) void _
  await workspace.read('/none').catch(() => undefined)
  await workspace.close()
  const spans = exporter.getFinishedSpans()
  const named = (name: string) => spans.filter((span) => span.name === `ws storage ${name}`)
  expect(named('write').map(({ attributes }) => attributes)).toEqual([
    expect.objectContaining({ 'ws.path': '/b.md', 'ws.bytes': 3, 'ws.store': 'memory', 'ws.outcome': 'done' }),
  ])
  expect(named('list')).toHaveLength(1)
  expect(
    spans.filter(({ status }) => status.code === SpanStatusCode.ERROR).map(({ status }) => status.message),
  ).toEqual(['ENOENT'])
})

it('makes spans children of the span that is active at the call', async () => {
  const storage = new AsyncLocalStorage<Context>()
  const manager: ContextManager = {
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (active, run, self, ...args) => storage.run(active, () => run.call(self as never, ...args)),
    bind: (_, target) => target,
    enable: () => manager,
    disable: () => manager,
  }
  context.setGlobalContextManager(manager)
  try {
    const adapter = traceAdapter(createMemoryAdapter({ files: { '/a.md': 'four' } }), { tracer, meter })
    const workspace = await createWorkspace({ mounts: [{ at: '/', adapter: () => adapter }] })
    traceWorkspace(workspace, { tracer, meter })
    const parent = tracer.startSpan('request')
    await context.with(trace.setSpan(context.active(), parent), () => workspace.readText('/a.md'))
    parent.end()
    await workspace.close()
    const children = exporter.getFinishedSpans().filter(({ name }) => name.endsWith('read'))
    expect(children.map(({ name }) => name)).toEqual(['ws storage read', 'ws read'])
    for (const { parentSpanContext } of children) expect(parentSpanContext?.spanId).toBe(parent.spanContext().spanId)
  } finally {
    context.disable()
  }
})

it('measures durations in seconds and bytes, without paths and labels', async () => {
  const adapter = traceAdapter(createMemoryAdapter({ files: { '/a.md': 'four' } }), { tracer, meter })
  const workspace = await createWorkspace({ mounts: [{ at: '/', adapter: () => adapter }], labels: { user: 'u7' } })
  traceWorkspace(workspace, { tracer, meter })
  await workspace.readText('/a.md')
  await workspace.close()
  await reader.forceFlush()
  const scopes = metricExporter.getMetrics().at(-1)?.scopeMetrics ?? []
  const found = scopes.flatMap(({ metrics }) => metrics)
  expect(found.map(({ descriptor: { name, unit } }) => `${name} ${unit}`).toSorted()).toEqual([
    'ws.operation.duration s',
    'ws.storage.bytes By',
    'ws.storage.duration s',
  ])
  expect(JSON.stringify(found)).not.toMatch(/a\.md|u7/u)
})

it('refuses options that are wrong', async () => {
  const workspace = await open()
  expect(() => traceWorkspace({} as never)).toThrow(expect.objectContaining({ code: 'EINVAL' }))
  expect(() => traceWorkspace(workspace, { tracer: {} as never })).toThrow(expect.objectContaining({ code: 'EINVAL' }))
  expect(() => traceAdapter({} as never)).toThrow(expect.objectContaining({ code: 'EINVAL' }))
  expect(() => traceAdapter(createMemoryAdapter(), { metre: 1 } as object)).toThrow(
    expect.objectContaining({ code: 'EINVAL' }),
  )
  await workspace.close()
})
