import type { StorageAdapter } from '../adapter/contract.ts'
import { LinkSignal } from '../adapter/link-signal.ts'
import { Pace } from '../adapter/pace.ts'
import { isWorkspaceError } from '../errors.ts'
import { createGlobFilter } from '../glob/filter.ts'
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

const operation = 'glob'
/** Codes of a directory that went away, or that the disk denies: as in a listing, the rest goes on without it. */
const passedOver = ['ENOENT', 'ENOTDIR', 'EACCES'] as const

export async function* glob(
  context: Context,
  patterns: string | readonly string[],
  options: WorkspaceGlobOptions = {},
): AsyncGenerator<WorkspaceEntry, undefined, undefined> {
  const path = options?.in ?? '.'
  const signal = options?.signal
  const trace: Trace = {}
  const time = Date.now()
  const start = performance.now()
  let failure: unknown
  try {
    checkMethod('glob', operation, options)
    admitCall(context, operation, signal)
    yield* matches(context, patterns, { ...options, in: path }, trace)
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
  { in: given, exclude = [], includeHidden = true, maxMatches = 10_000, signal }: WorkspaceGlobOptions & { in: string },
  trace: Trace,
): AsyncGenerator<WorkspaceEntry, undefined, undefined> {
  const filter = createGlobFilter(globsOf(patterns), operation)
  const { path } = parseFor(context, operation, given)
  const excluded = exclude.map((one) => parseFor(context, operation, one).path).filter((one) => typeof one === 'string')
  const pace = new Pace(signal)
  let start = '/' as VirtualPath
  const request = { operation: 'list', need: 'read', followLast: true, signal, trace } as const
  const waiting = await context.walker.run(request, path, (located, adapter) => {
    start = located.virtual
    return entriesOf(context, located, adapter, pace, signal)
  })
  // The last comes first, so that one array is enough for the way down.
  for (let left = maxMatches; left > 0; ) {
    const entry = waiting.pop()
    if (entry === undefined) return
    if (pace.isDue) await pace.rest()
    if (!includeHidden && entry.name.startsWith('.')) continue
    const below = pathBelow(entry.path, start)
    if (filter.matches(below)) {
      yield entry
      left -= 1
    }
    if (entry.type !== 'directory' || !filter.mayMatchBelow(below)) continue
    if (left === 0 || excluded.some((skip) => isWithin(entry.path, skip))) continue
    for (const child of await entriesBelow(context, entry.path, pace, signal)) waiting.push(child)
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

/** The entries of a directory that a listing has shown, as far as it may be listed. */
async function entriesBelow(
  context: Context,
  directory: VirtualPath,
  pace: Pace,
  signal: AbortSignal | undefined,
): Promise<WorkspaceEntry[]> {
  let at: VirtualPath | undefined
  try {
    const located = context.gate.admit('list', directory, 'read')
    at = located.mount?.at
    const adapter = located.mount === undefined ? undefined : await context.open(located.mount)
    return await entriesOf(context, located, adapter, pace, signal)
  } catch (error) {
    // A link has come into its place.
    if (error instanceof LinkSignal || passedOver.some((code) => isWorkspaceError(error, code))) return []
    throw translateError(error, { operation, at, path: directory, signal })
  }
}

/** The entries of one directory that may be shown, from the last name to the first. */
async function entriesOf(
  context: Context,
  { virtual, mount, path }: Located,
  adapter: StorageAdapter | undefined,
  pace: Pace,
  signal: AbortSignal | undefined,
): Promise<WorkspaceEntry[]> {
  const shaper = new EntryShaper(context, { start: virtual, mount, entries: undefined, first: undefined }, false)
  const found: WorkspaceEntry[] = []
  for await (const entry of adapter?.list(path, { signal }) ?? []) {
    const shaped = entry.unreachable ? undefined : shaper.shape(entry)
    if (shaped !== undefined) found.push(shaped)
    if (pace.isDue) await pace.rest()
  }
  found.push(...shaper.unseen())
  return found.sort((left, right) => (left.name < right.name ? 1 : -1))
}
