import type { StorageAdapter } from '../contract/adapter.ts'
import { operations } from '../contract/operations.ts'
import { isWorkspaceError } from '../errors.ts'
import { parseInput } from '../path/segments.ts'
import type { AliasNames } from '../path/segments.ts'
import type { ParsedPath, VirtualPath } from '../path/virtual-path.ts'
import { outcomeOf } from './audit.ts'
import type { Audit, Beginning, Clock } from './audit.ts'
import { virtualError } from '../mount/errors.ts'
import type { Gate } from '../mount/gate.ts'
import type { WorkspaceMount } from '../mount/mounts.ts'
import type { ConnectionReport } from '../contract/executor.ts'
import type { HostsRule } from '../contract/policy.ts'
import type { CommandDefaults } from '../contract/workspace.ts'
import type { LinkTracer } from '../mount/trace-links.ts'
import type { Trace, Walker } from '../mount/walk.ts'

const longestLine = 80

export interface Context {
  readonly root: VirtualPath
  readonly aliases: AliasNames
  readonly mounts: readonly WorkspaceMount[]
  readonly gate: Gate
  readonly walker: Walker
  readonly tracer: LinkTracer
  readonly audit: Audit
  readonly clock: Clock
  readonly commands: CommandDefaults
  /** Returns the adapter of a mount. Creates the scratch adapter on its first use. */
  open(mount: WorkspaceMount): StorageAdapter | Promise<StorageAdapter>
  readonly state: WorkspaceState
  /** True for the file API that interpreters use: its calls are part of a command. Default false. */
  readonly isOfCommands?: boolean | undefined
  /** The try whose function got this view. */
  readonly attempt?: Attempt | undefined
}

/** One object for all views of a workspace. */
export interface WorkspaceState {
  isClosed: boolean
  /** The changing calls of callers. */
  readonly calls: { begun: number; readonly open: Set<Promise<unknown>> }
  /** The commands and sessions that are about to start. */
  readonly starting: Set<Promise<unknown>>
  /** The open try. */
  attempt?: Attempt | undefined
  /** The open watches of all views. */
  readonly watches: Set<OpenWatch>
}

export interface OpenWatch {
  /** Number of known entries. */
  readonly size: number
  /** Looks for changes at or below paths. Default: everywhere. Resolves when their events wait in the watch. Never rejects. */
  look(at?: readonly VirtualPath[]): Promise<void>
  end(): void
}

/** Lets the open watches look for changes: see {@link OpenWatch}. Never rejects. */
export async function tellWatches({ watches }: WorkspaceState, at?: readonly VirtualPath[]): Promise<void> {
  if (watches.size > 0) await Promise.all([...watches].map((watch) => watch.look(at)))
}

/** A try that is neither kept nor dropped. Meanwhile, only its own view may change files. */
export interface Attempt {
  /** The command line; absent for a function. */
  readonly line?: string | undefined
  /** False once the function of the try has ended: its view then refuses all calls. */
  isRunning: boolean
  /** Lists of hosts for the commands of the try. */
  readonly hostRules: readonly HostsRule[]
  readonly connections: ConnectionReport[]
  /** Takes the try back at once, because the workspace closes. */
  close(): Promise<void>
}

export interface PerformOptions {
  readonly operation: string
  readonly path: string
  readonly destination?: string | undefined
  readonly signal?: AbortSignal | undefined
}

export function parseFor(context: Context, operation: string, path: string): ParsedPath {
  return parseInput(path, { base: context.root, aliases: context.aliases, operation })
}

/** Runs an operation, and records one audit event for its outcome. Rejects after `close` and for an aborted signal. */
export async function perform<Result>(
  context: Context,
  options: PerformOptions,
  body: (parsed: ParsedPath, trace: Trace) => Promise<Result>,
): Promise<Result> {
  const { operation, path, signal } = options
  const trace: Trace = {}
  if (!context.audit.active) {
    admitCall(context, operation, signal)
    return counted(context, options, trace, () => body(parseFor(context, operation, path), trace))
  }
  const began = context.clock.begin()
  try {
    admitCall(context, operation, signal)
    const result = await counted(context, options, trace, () => body(parseFor(context, operation, path), trace))
    recordFiles(context, options, { began, trace, error: undefined })
    return result
  } catch (error) {
    recordFiles(context, options, { began, trace, error })
    throw error
  }
}

/** The methods that change files, except those that start commands. */
const changing: ReadonlySet<string> = new Set([
  ...Object.entries(operations).flatMap(([operation, { changes }]) => (changes ? [operation] : [])),
  'edit',
  'merge',
  'restore',
])

const beginning: ReadonlySet<string> = new Set(['exec', 'fork', 'openSession', 'try'])

/** Counts the changing calls of callers: the results of commands that run meanwhile say so. Tells the watches of each changing call. */
async function counted<Result>(
  { state, isOfCommands = false }: Context,
  { operation }: PerformOptions,
  trace: Trace,
  body: () => Promise<Result>,
): Promise<Result> {
  if (!changing.has(operation)) return body()
  try {
    if (isOfCommands) return await body()
    state.calls.begun += 1
    return await during(state.calls.open, body())
  } finally {
    // a call that failed may have changed files before its failure
    if (state.watches.size > 0) await tellWatches(state, touchedBy(operation, trace))
  }
}

/** Returns the paths that a call may have changed. `undefined`: any. */
function touchedBy(operation: string, { landed, destination }: Trace): readonly VirtualPath[] | undefined {
  if (operation === 'restore' || operation === 'merge') return undefined
  return [operation === 'copy' ? undefined : landed, destination].filter((path) => path !== undefined)
}

/** Keeps work in a set while it lasts. */
export async function during<Result>(open: Set<Promise<unknown>>, work: Promise<Result>): Promise<Result> {
  open.add(work)
  try {
    return await work
  } finally {
    open.delete(work)
  }
}

export function admitCall(context: Context, operation: string, signal: AbortSignal | undefined): void {
  const { state, attempt, isOfCommands } = context
  if (state.isClosed) throw closedError(operation)
  signal?.throwIfAborted()
  if (attempt?.isRunning === false) throw endedError(operation)
  if (state.attempt === undefined || attempt !== undefined || isOfCommands === true) return
  if (changing.has(operation) || beginning.has(operation)) throw tryingError(operation, state.attempt)
}

function endedError(operation: string): Error {
  return virtualError({
    code: 'ECLOSED',
    operation,
    reason: 'the function of the try has ended, and its workspace with it',
    remedy: 'await all calls in the function, or use the workspace itself after `keep` or `drop`',
  })
}

function tryingError(operation: string, { line, isRunning }: Attempt): Error {
  return virtualError({
    code: 'EBUSY',
    operation,
    reason: `the try of ${line === undefined ? 'a function' : `\`${line.slice(0, longestLine)}\``} is open, so nothing else may change files`,
    remedy: isRunning
      ? 'wait for it, or use the workspace that its function got'
      : 'end it by `keep()` or `drop()` of its result',
  })
}

export function closedError(operation: string): Error {
  return virtualError({
    code: 'ECLOSED',
    operation,
    reason: 'the workspace is closed',
    remedy: 'make a new one with `createWorkspace`',
  })
}

export function recordFiles(
  context: Context,
  { operation, path, destination, signal }: PerformOptions,
  { began, trace, error }: { began: Beginning; trace: Trace; error: unknown },
): void {
  const ended = outcomeOf('files', error, signal)
  const refused = ended.outcome === 'denied' && isWorkspaceError(error) ? error.path : undefined
  const landed = (refused as VirtualPath | undefined) ?? trace.landed
  context.audit.record({
    time: began.time,
    door: 'files',
    operation,
    path: String(path),
    resolvedPath: landed === path || landed === destination ? undefined : landed,
    destination,
    ...ended,
    duration: context.clock.since(began),
  })
}
