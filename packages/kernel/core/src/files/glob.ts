import type { StorageAdapter } from '../contract/adapter.ts'
import { LinkSignal } from '../adapter/link-signal.ts'
import { Pace } from '../adapter/pace.ts'
import { isWorkspaceError } from '../errors.ts'
import { createGlobFilter } from '../glob/filter.ts'
import type { GlobFilter } from '../glob/filter.ts'
import { childPath, isWithin } from '../path/virtual-path.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import { admitCall, parseFor, recordFiles } from '../calls/context.ts'
import type { Context } from '../calls/context.ts'
import { checkMethod } from '../calls/method-options.ts'
import { translateError, virtualError } from '../mount/errors.ts'
import type { Located } from '../mount/gate.ts'
import type { Trace } from '../mount/walk.ts'
import type { WorkspaceEntry, WorkspaceGlobOptions } from '../contract/file-door.ts'
import { EntryShaper } from './entry-shaper.ts'
import type { IgnoreFiles } from './ignore-files.ts'
import { pathBelow } from './regions.ts'
import { sortInTurns } from './sort-in-turns.ts'

const operation = 'glob'
/** Error codes for which a directory is skipped: it was removed, the disk denies it, or it has no valid path. */
const passedOver = ['ENOENT', 'ENOTDIR', 'EACCES', 'ENAMETOOLONG'] as const

export async function* glob(
  context: Context,
  patterns: string | readonly string[],
  options: WorkspaceGlobOptions = {},
): AsyncGenerator<WorkspaceEntry, undefined, undefined> {
  checkMethod('glob', operation, options)
  const { in: path = '.', signal } = options
  const trace: Trace = {}
  const began = context.clock.begin()
  let failure: unknown
  try {
    admitCall(context, operation, signal)
    yield* matches(context, patterns, path, options, trace)
  } catch (error) {
    failure = error
    throw error
  } finally {
    if (context.audit.active) recordFiles(context, { operation, path, signal }, { began, trace, error: failure })
  }
}

async function* matches(
  context: Context,
  patterns: string | readonly string[],
  given: string,
  options: WorkspaceGlobOptions,
  trace: Trace,
): AsyncGenerator<WorkspaceEntry, undefined, undefined> {
  const { exclude = [], includeHidden = true, maxMatches = 10_000, signal, gitignore, onLeftOut } = options
  const globs = globsOf(patterns)
  const filter = createGlobFilter(globs, operation, includeHidden)
  const wide = onLeftOut && { filter: createGlobFilter(globs.filter((one) => !one.startsWith('!'))), tell: onLeftOut }
  const { path } = parseFor(context, operation, given)
  const excluded = exclude.map((one) => parseFor(context, operation, one).path).filter((one) => typeof one === 'string')
  const named = new Set(globs.flatMap(pathsNamedBy))
  const search: Search = {
    context,
    filter,
    wide,
    named,
    excluded,
    ignore: undefined,
    signal,
    trace,
    pace: new Pace(signal),
  }
  let start = '/' as VirtualPath
  const waiting = await context.walker.run(
    { operation: 'list', need: 'read', followLast: true, signal, trace },
    path,
    async (located, adapter) => {
      start = located.virtual
      if (gitignore === true) {
        const { IgnoreFiles } = await import('./ignore-files.ts')
        const { onUnreadable } = options
        search.ignore = await IgnoreFiles.open(context, start, { signal, onUnreadable, onLeftOut: undefined })
      }
      return entriesOf(search, { start, shown: start }, located, adapter)
    },
  )
  let left = maxMatches
  // The array is in reverse order and used as a stack, so one array is enough for the walk.
  for (let found = waiting.pop(); found !== undefined && left > 0; found = waiting.pop()) {
    if (found.matches) {
      yield found.entry
      left -= 1
    }
    if (left === 0 || found.enters === undefined) continue
    for (const below of await entriesBelow(search, { start, shown: found.entry.path }, found.enters))
      waiting.push(below)
  }
}

/** Returns the paths before a glob's first wildcard: `a` and `a/b` for `a/b/*.ts`. Links among them are followed, and never ignored. */
function pathsNamedBy(glob: string): string[] {
  if (glob.startsWith('!') || !glob.includes('/')) return []
  const names = glob.replace(/^(?:\.?\/)+/u, '').split('/')
  const wild = names.findIndex((name) => /[*?[\]{}\\]/u.test(name))
  const literal = wild < 0 ? names : names.slice(0, wild)
  return literal.map((_name, index) => literal.slice(0, index + 1).join('/'))
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
  /** Reports omitted entries. `filter` has the globs without the `!` globs. */
  readonly wide: { readonly filter: GlobFilter; readonly tell: (path: VirtualPath) => void } | undefined
  /** Paths relative to the start. */
  readonly named: ReadonlySet<string>
  readonly excluded: readonly VirtualPath[]
  ignore: IgnoreFiles | undefined
  readonly pace: Pace
  readonly signal: AbortSignal | undefined
  readonly trace: Trace
}

interface SearchRoot {
  readonly start: VirtualPath
  readonly shown: VirtualPath
}

interface VisitedEntry {
  readonly entry: WorkspaceEntry
  readonly matches: boolean
  /** The real path of a directory, or of a link that a glob names, if entries inside can match. */
  readonly enters: { readonly path: VirtualPath; readonly isLink: boolean } | undefined
}

async function entriesBelow(search: Search, place: SearchRoot, { path, isLink }: NonNullable<VisitedEntry['enters']>) {
  const { context, excluded, signal, trace } = search
  let at: VirtualPath | undefined
  try {
    if (isLink) {
      const access = { operation: 'list', need: 'read', followLast: true, signal, trace: { ...trace } } as const
      return await context.walker.run(access, path, async (located, adapter) =>
        isExcluded(excluded, located.virtual) ? [] : await entriesOf(search, place, located, adapter),
      )
    }
    const located = context.gate.admit('list', path, 'read')
    at = located.mount?.at
    const adapter = located.mount === undefined ? undefined : await context.open(located.mount)
    return await entriesOf(search, place, located, adapter)
  } catch (error) {
    // A link has replaced the directory, or a link's target is missing, denied or not a directory.
    if (error instanceof LinkSignal || passedOver.some((code) => isWorkspaceError(error, code))) return []
    if (isLink && (isWorkspaceError(error, 'ELOOP') || isWorkspaceError(error, 'EOUTSIDE'))) return []
    throw translateError(error, { operation, at, path, signal })
  }
}

const isExcluded = (excluded: readonly VirtualPath[], path: VirtualPath): boolean =>
  excluded.some((skip) => isWithin(path, skip))

/** Returns the matching entries of one directory, in reverse order of names. */
async function entriesOf(
  { context, filter, wide, named, excluded, ignore, pace, signal }: Search,
  { start, shown }: SearchRoot,
  { virtual, mount, path }: Located,
  adapter: StorageAdapter | undefined,
): Promise<VisitedEntry[]> {
  const shaper = new EntryShaper(context, { start: virtual, mount, entries: undefined, first: undefined }, false)
  const wanted: VisitedEntry[] = []
  const add = (real: WorkspaceEntry): void => {
    const entry = shown === virtual ? real : { ...real, path: childPath(shown, real.name) }
    const below = pathBelow(entry.path, start)
    const isDirectory = entry.type === 'directory'
    const isIgnored = ignore !== undefined && !named.has(below) && ignore.judge(real.path, isDirectory)
    const isMatch = !isIgnored && filter.matches(below)
    const isLink = entry.type === 'symlink' && named.has(below)
    const mayEnter = !isIgnored && filter.mayMatchBelow(below)
    if (wide !== undefined && !isMatch && !(isDirectory && mayEnter)) {
      if (wide.filter.matches(below) || (isDirectory && wide.filter.mayMatchBelow(below))) wide.tell(entry.path)
    }
    const enters =
      (isLink || isDirectory) && mayEnter && !isExcluded(excluded, real.path) && !isExcluded(excluded, entry.path)
    if (isMatch || enters) {
      wanted.push({ entry, matches: isMatch, enters: enters ? { path: real.path, isLink } : undefined })
    }
  }
  const entries: WorkspaceEntry[] = []
  for await (const entry of adapter?.list(path, { signal }) ?? []) {
    const shaped = entry.unreachable ? undefined : shaper.shape(entry)
    // Waits for all entries: an ignore file also applies to entries that the listing returns earlier.
    if (shaped !== undefined && ignore === undefined) add(shaped)
    else if (shaped !== undefined) entries.push(shaped)
    if (pace.isDue) await pace.rest()
  }
  await ignore?.load(virtual, entries)
  for (const entry of entries) {
    add(entry)
    if (pace.isDue) await pace.rest()
  }
  for (const way of shaper.unseen()) add(way)
  return sortInTurns(wanted, (left, right) => (left.entry.name < right.entry.name ? 1 : -1), pace)
}
