import type { AppendOptions, ByteRange, DeleteOptions, MoveOptions, SignalOption } from '../contract/file-types.ts'
import type { CopyOptions, ForkOptions } from '../contract/file-types.ts'
import type { MergeOptions } from '../contract/forks.ts'
import { limitShapes } from '../executor/limits.ts'
import { checkOptions } from '../options/check.ts'
import { option } from '../options/shapes.ts'
import type { OptionShape, OptionShapes } from '../options/shapes.ts'
import { fileOperations } from '../contract/operations.ts'
import type {
  EditOptions,
  LastBytes,
  ReadLinesOptions,
  WorkspaceCreateDirectoryOptions,
  WorkspaceGlobOptions,
  WorkspaceListOptions,
  WorkspaceReadOptions,
  WorkspaceReadStreamOptions,
  WorkspaceSearchOptions,
  WorkspaceStatOptions,
  WorkspaceWriteOptions,
} from '../contract/file-door.ts'
import type { BackgroundOptions, OpenSessionOptions, OutputOffsets } from '../contract/sessions.ts'
import type { PublishOptions } from '../contract/publishing.ts'
import type { ChangesOptions, CheckpointOptions, DiffOptions, RestoreOptions } from '../contract/checkpoints.ts'
import type { TryOptions } from '../contract/tries.ts'
import type { WatchOptions } from '../contract/watching.ts'
import type { CommandDefaults, ConnectionsOptions, ExecOptions, ExplainRequest } from '../contract/workspace.ts'

const signal = option.signal
const version = option.text
const count = option.integer(0)
/** The maximum of excluded paths: each path is compared with each entry of a listing. */
const mostExcluded = 1000
const paths: OptionShape = {
  ...option.strings,
  must: `a list of strings, at most ${mostExcluded}`,
  accepts: (value) => Array.isArray(value) && value.length <= mostExcluded,
}
const hostDirectory = option.of(
  'an absolute path without NUL',
  (value) => typeof value === 'string' && value.startsWith('/') && !value.includes('\0'),
)
const withoutNul: OptionShape = option.of(
  'a string without NUL',
  (value) => typeof value === 'string' && !value.includes('\0'),
)
const stdin = option.of(
  'a string, a Uint8Array or an async iterable of Uint8Array',
  (value) =>
    typeof value === 'string' ||
    (typeof value === 'object' && value !== null && Symbol.asyncIterator in value) ||
    value instanceof Uint8Array,
)
const env = option.map(
  option.of('letters, digits and `_`, with no digit first', (name) => /^[A-Za-z_]\w*$/.test(String(name))),
  option.hidden(withoutNul),
)

const range: OptionShape = {
  ...option.options<ByteRange & LastBytes>(
    { offset: count, length: count, last: count },
    'an object with `offset`, or with `last` alone',
  ),
  accepts(value) {
    if (!option.object.accepts(value)) return false
    const { offset, length, last } = value as Partial<ByteRange & LastBytes>
    return last === undefined ? offset !== undefined : offset === undefined && length === undefined
  },
}
const hosts: OptionShape = {
  ...option.of('`public`, or a list of hosts', (value) => value === 'public' || Array.isArray(value)),
  element: option.string,
}
const mode: OptionShape = { ...option.integer(0, 0o777), must: 'permission bits from 0 to 0o777' }
const ignore = { gitignore: option.boolean, onLeftOut: option.function, onUnreadable: option.function }
const move = { overwrite: option.boolean, ifSource: version, ifDestination: version, parents: option.boolean, signal }

/** The options that both a workspace and a single command can set. */
const commandShapes: OptionShapes<Omit<CommandDefaults, 'cache' | 'gitIdentity'>> = {
  timeout: option.duration,
  maxOutputBytes: count,
  env,
  login: option.boolean,
}

const identityPart = option.required(
  option.of('text of 1 to 200 characters without `<`, `>` and control characters', (value) =>
    /^[^<>\p{Cc}]{1,200}$/u.test(String(value)),
  ),
)

export const commandDefaultShapes: OptionShapes<CommandDefaults> = {
  ...commandShapes,
  cache: option.text,
  gitIdentity: option.options<NonNullable<CommandDefaults['gitIdentity']>>({ name: identityPart, email: identityPart }),
}

const exec: OptionShapes<ExecOptions> = {
  ...commandShapes,
  cwd: option.string,
  stdin: option.hidden(stdin),
  writableStdin: option.boolean,
  onOutput: option.function,
  killGrace: option.integer(0, 2 ** 31 - 1),
  limits: option.options(limitShapes),
  shell: option.string,
  shellState: option.hidden(option.string),
  acknowledge: option.list(option.string, 'a list of rule names'),
  durable: option.boolean,
  changes: option.boolean,
  signal,
}

const tryBounds = {
  exclusive: option.boolean,
  fork: option.boolean,
  network: option.boolean,
  decideWithin: option.duration,
}
const {
  stdin: _stdin,
  writableStdin: _writableStdin,
  onOutput: _onOutput,
  shellState: _shellState,
  durable: _durable,
  changes: _changes,
  ...both
} = exec
const side = option.integer(1, 65_535)

const methods = {
  signal: { signal } satisfies OptionShapes<SignalOption>,
  stat: { followLinks: option.boolean, signal } satisfies OptionShapes<WorkspaceStatOptions>,
  read: { range, ifVersion: version, maxBytes: count, signal } satisfies OptionShapes<WorkspaceReadOptions>,
  readStream: { range, ifVersion: version, signal } satisfies OptionShapes<WorkspaceReadStreamOptions>,
  readLines: { offset: count, limit: count, last: count, signal } satisfies OptionShapes<ReadLinesOptions>,
  write: {
    ifVersion: version,
    parents: option.boolean,
    mode,
    durable: option.boolean,
    signal,
  } satisfies OptionShapes<WorkspaceWriteOptions>,
  append: { ifVersion: version, parents: option.boolean, signal } satisfies OptionShapes<AppendOptions>,
  list: {
    recursive: option.boolean,
    exclude: paths,
    details: option.boolean,
    maxDepth: option.integer(1),
    signal,
  } satisfies OptionShapes<WorkspaceListOptions>,
  glob: {
    in: option.string,
    exclude: paths,
    includeHidden: option.boolean,
    maxMatches: count,
    ...ignore,
    signal,
  } satisfies OptionShapes<WorkspaceGlobOptions>,
  edit: { ifVersion: version, timeout: option.integer(0, 2 ** 31 - 1), signal } satisfies OptionShapes<EditOptions>,
  createDirectory: { recursive: option.boolean, signal } satisfies OptionShapes<WorkspaceCreateDirectoryOptions>,
  delete: {
    recursive: option.boolean,
    force: option.boolean,
    ifVersion: version,
    signal,
  } satisfies OptionShapes<DeleteOptions>,
  move: move satisfies OptionShapes<MoveOptions>,
  copy: { ...move, recursive: option.boolean } satisfies OptionShapes<CopyOptions>,
  search: {
    in: option.string,
    glob: {
      ...option.of('a glob, or a list of globs', (value) => typeof value === 'string' || Array.isArray(value)),
      element: option.string,
    },
    regex: option.boolean,
    caseSensitive: option.boolean,
    maxHits: count,
    maxFileBytes: count,
    exclude: paths,
    ...ignore,
    signal,
  } satisfies OptionShapes<WorkspaceSearchOptions>,
  watch: {
    recursive: option.boolean,
    interval: option.duration,
    maxPending: option.integer(1, 100_000),
    signal,
  } satisfies OptionShapes<WatchOptions>,
  exec,
  try: { ...exec, ...tryBounds } satisfies OptionShapes<TryOptions>,
  tryFunction: tryBounds satisfies OptionShapes<Omit<TryOptions, keyof ExecOptions>>,
  start: { ...exec, id: option.string } satisfies OptionShapes<BackgroundOptions>,
  openSession: {
    ...both,
    id: option.string,
    command: option.of('a command', () => true),
    columns: side,
    rows: side,
    idleTimeout: option.duration,
    maxOutputBytes: option.integer(1),
  } satisfies OptionShapes<OpenSessionOptions>,
  checkpoint: {
    label: option.of('text of 1 to 200 characters', (value) => typeof value === 'string' && /^.{1,200}$/su.test(value)),
    automatic: option.boolean,
    signal,
  } satisfies OptionShapes<CheckpointOptions>,
  changes: { since: option.text, until: option.text, paths, signal } satisfies OptionShapes<ChangesOptions>,
  diff: { since: option.text, until: option.text, path: option.string, signal } satisfies OptionShapes<DiffOptions>,
  restore: { paths, dryRun: option.boolean, signal } satisfies OptionShapes<RestoreOptions>,
  fork: { directory: option.hidden(hostDirectory), signal } satisfies OptionShapes<ForkOptions>,
  merge: { paths, dryRun: option.boolean, signal } satisfies OptionShapes<MergeOptions>,
  explain: {
    operation: option.required(option.oneOf(...fileOperations, 'exec', 'connect')),
    path: option.string,
    host: option.text,
    port: option.integer(1, 65_535),
    hosts,
    command: option.of('a command', () => true),
    acknowledge: option.strings,
  } satisfies OptionShapes<ExplainRequest>,
  connections: { path: option.string, hosts } satisfies OptionShapes<ConnectionsOptions>,
  publish: {
    hostPort: option.integer(1, 65_535),
    socketPath: option.hidden(option.of('an absolute path of at most 107 bytes', isSocketPath)),
  } satisfies OptionShapes<PublishOptions>,
  since: { since: count },
  output: {
    since: option.options<OutputOffsets>({ stdout: count, stderr: count, output: count }),
  },
}

/** The kernel's limit is 107 bytes. */
function isSocketPath(value: unknown): boolean {
  return typeof value === 'string' && /^\/[^\0]+$/.test(value) && new TextEncoder().encode(value).length <= 107
}

const removed = { outputFile: 'redirect the output in the command: `make > build.log 2>&1`' }

export function checkMethod(method: keyof typeof methods, operation: string, options: unknown, name?: string): void {
  if (options !== undefined || method === 'explain')
    checkOptions(options, methods[method] as OptionShapes<object>, { operation, name, removed })
}
