import type { StorageAdapter } from '../adapter/contract.ts'
import { LinkSignal } from '../adapter/link-signal.ts'
import { Pace } from '../adapter/pace.ts'
import { isWorkspaceError } from '../errors.ts'
import { createGlobFilter } from '../glob/filter.ts'
import type { GlobFilter } from '../glob/filter.ts'
import { isWithin } from '../path/virtual-path.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import { admitCall, parseFor, recordFiles } from '../calls/context.ts'
import type { Context } from '../calls/context.ts'
import { checkMethod } from '../calls/method-options.ts'
import { translateError, virtualError } from '../mount/errors.ts'
import type { Located } from '../mount/gate.ts'
import type { Trace } from '../mount/walk.ts'
import type { WorkspaceEntry, WorkspaceGlobOptions } from '../workspace/file-door.ts'
import { EntryShaper } from './entry-shaper.ts'
import { pathBelow } from './regions.ts'
import { sortInTurns } from './sort-in-turns.ts'

const operation = 'glob'
/** Codes of a directory that went away, or that the disk denies: as in a listing, the rest goes on without it. */
const passedOver = ['ENOENT', 'ENOTDIR', 'EACCES'] as const

export async function* glob(
  context: Context,
  patterns: string | readonly string[],
  options: WorkspaceGlobOptions = {},
): AsyncGenerator<WorkspaceEntry, undefined, undefined> {
  checkMethod('glob', operation, options)
  const { in: path = '.', signal } = options
  const trace: Trace = {}
  const time = Date.now()
  const start = performance.now()
  let failure: unknown
  try {
    admitCall(context, operation, signal)
    yield* matches(context, patterns, path, options, trace)
  } catch (error) {
    failure = error
    throw error
  } finally {
    if (context.audit.active) recordFiles(context, { operation, path, signal }, { time, start, trace, error: failure })
  }
}

async function* matches(
  context: Context,
  patterns: string | readonly string[],
  given: string,
  { exclude = [], includeHidden = true, maxMatches = 10_000, signal }: WorkspaceGlobOptions,
  trace: Trace,
): AsyncGenerator<WorkspaceEntry, undefined, undefined> {
  const filter = createGlobFilter(globsOf(patterns), operation)
  const { path } = parseFor(context, operation, given)
  const excluded = exclude.map((one) => parseFor(context, operation, one).path).filter((one) => typeof one === 'string')
  const search = { context, filter, excluded, includeHidden, signal, pace: new Pace(signal) }
  let start = '/' as VirtualPath
  const waiting = await context.walker.run(
    { operation: 'list', need: 'read', followLast: true, signal, trace },
    path,
    (located, adapter) => {
      start = located.virtual
      return entriesOf(search, start, located, adapter)
    },
  )
  let left = maxMatches
  // The last comes first, so that one array is enough for the way down.
  for (let found = waiting.pop(); found !== undefined && left > 0; found = waiting.pop()) {
    if (found.matches) {
      yield found.entry
      left -= 1
    }
    if (left === 0 || !found.enters) continue
    for (const below of await entriesBelow(search, start, found.entry.path)) waiting.push(below)
  }
}

function globsOf(patterns: string | readonly string[]): readonly string[] {
  const globs = typeof patterns === 'string' ? [patterns] : patterns
  if (Array.isArray(globs) && globs.length > 0) return globs
  throw virtualError({
    code: 'EINVAL',
    operation,
    reason: 'the pattern must be a glob, or a list of one or more globs',
    remedy: 'pass a glob such as `*.ts`',
  })
}

interface Search {
  readonly context: Context
  readonly filter: GlobFilter
  readonly excluded: readonly VirtualPath[]
  readonly includeHidden: boolean
  readonly pace: Pace
  readonly signal: AbortSignal | undefined
}

interface Found {
  readonly entry: WorkspaceEntry
  readonly matches: boolean
  /** A directory in which something may match. */
  readonly enters: boolean
}

/** The entries of a directory that a listing has shown, as far as it may be listed. */
async function entriesBelow(search: Search, start: VirtualPath, directory: VirtualPath): Promise<Found[]> {
  const { context, signal } = search
  let at: VirtualPath | undefined
  try {
    const located = context.gate.admit('list', directory, 'read')
    at = located.mount?.at
    const adapter = located.mount === undefined ? undefined : await context.open(located.mount)
    return await entriesOf(search, start, located, adapter)
  } catch (error) {
    // A link has come into its place.
    if (error instanceof LinkSignal || passedOver.some((code) => isWorkspaceError(error, code))) return []
    throw translateError(error, { operation, at, path: directory, signal })
  }
}

/** The entries of one directory that are wanted, from the last name to the first. */
async function entriesOf(
  { context, filter, excluded, includeHidden, pace, signal }: Search,
  start: VirtualPath,
  { virtual, mount, path }: Located,
  adapter: StorageAdapter | undefined,
): Promise<Found[]> {
  const shaper = new EntryShaper(context, { start: virtual, mount, entries: undefined, first: undefined }, false)
  const wanted: Found[] = []
  const add = (entry: WorkspaceEntry): void => {
    if (!includeHidden && entry.name.startsWith('.')) return
    const below = pathBelow(entry.path, start)
    const isMatch = filter.matches(below)
    const enters =
      entry.type === 'directory' && filter.mayMatchBelow(below) && !excluded.some((skip) => isWithin(entry.path, skip))
    if (isMatch || enters) wanted.push({ entry, matches: isMatch, enters })
  }
  for await (const entry of adapter?.list(path, { signal }) ?? []) {
    const shaped = entry.unreachable ? undefined : shaper.shape(entry)
    if (shaped !== undefined) add(shaped)
    if (pace.isDue) await pace.rest()
  }
  for (const way of shaper.unseen()) add(way)
  return sortInTurns(wanted, (left, right) => (left.entry.name < right.entry.name ? 1 : -1), pace)
}
