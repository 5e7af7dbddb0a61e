import type { SearchHit, SearchQuery } from '../contract/file-types.ts'
import { createGlobFilter } from '../glob/filter.ts'
import type { GlobFilter } from '../glob/filter.ts'
import { isWorkspaceError } from '../errors.ts'
import type { WorkspaceError } from '../errors.ts'
import { isWithin, joinPath } from '../path/virtual-path.ts'
import type { MountPath, VirtualPath } from '../path/virtual-path.ts'
import { admitCall, parseFor, recordFiles } from '../calls/context.ts'
import type { Context } from '../calls/context.ts'
import { translateError, virtualError } from '../mount/errors.ts'
import type { WorkspaceSearchHit, WorkspaceSearchOptions } from '../contract/file-door.ts'
import type { Located } from '../mount/gate.ts'
import { checkMethod } from '../calls/method-options.ts'
import type { IgnoreFiles } from './ignore-files.ts'
import { mayEnter, mountsBelow, pathBelow, skippedIn } from './regions.ts'
import type { StorageAdapter } from '../contract/adapter.ts'
import { View } from '../mount/view.ts'
import type { Trace } from '../mount/walk.ts'

interface OpenSearch {
  readonly start: VirtualPath
  readonly at: VirtualPath
  readonly hits: AsyncIterator<SearchHit>
  readonly first: IteratorResult<SearchHit>
}

interface Ignoring {
  readonly ignore: IgnoreFiles | undefined
}

interface Query extends Omit<SearchQuery, 'in' | 'exclude' | 'skips'> {
  readonly glob: readonly string[]
  readonly filter: GlobFilter
}

export async function* search(
  context: Context,
  pattern: string,
  options: WorkspaceSearchOptions = {},
): AsyncGenerator<WorkspaceSearchHit, void, undefined> {
  const operation = 'search'
  checkMethod('search', operation, options)
  const path = options.in ?? '.'
  const { signal, maxHits = 1000 } = options
  const trace: Trace = {}
  const began = context.clock.begin()
  let failure: unknown
  try {
    admitCall(context, operation, signal)
    const { filter, ...query } = checkQuery(pattern, options)
    const { onUnreadable } = options
    let ignore: IgnoreFiles | undefined
    const parsed = parseFor(context, operation, path)
    const excluded = (options.exclude ?? [])
      .map((given) => parseFor(context, operation, given).path)
      .filter((given) => typeof given === 'string')
    let left = maxHits
    const first = await context.walker.run(
      { operation, need: 'read', followLast: true, signal, trace },
      parsed.path,
      async (located, adapter) => {
        const { virtual } = located
        if (adapter === undefined) return { virtual, region: undefined }
        // With no hits left to find, only `stat` is needed: a missing path must still reject.
        if (left === 0 || options.gitignore === true) await adapter.stat(located.path, { signal })
        if (left === 0) return { virtual, region: undefined }
        if (options.gitignore === true) {
          const { IgnoreFiles } = await import('./ignore-files.ts')
          ignore = await IgnoreFiles.open(context, virtual, { signal, onUnreadable, onLeftOut: options.onLeftOut })
        }
        return {
          virtual,
          region: await openSearch(context, located, adapter, query, excluded, { signal, onUnreadable, ignore }),
        }
      },
    )
    if (left === 0) return
    const regions = mountsBelow(context, first.virtual).filter(
      (nested) =>
        !excluded.some((skip) => isWithin(nested, skip)) &&
        mayEnter(context, first.virtual, nested) &&
        ignore?.isIgnored(nested, true) !== true,
    )
    if (first.region !== undefined) {
      for await (const hit of hitsOf(context, first.region, { signal, ignore })) {
        yield hit
        left -= 1
        if (left === 0) return
      }
    }
    for (const nested of allNested(context, regions)) {
      const located = context.gate.admit(operation, nested, 'read')
      if (located.mount === undefined) continue
      const adapter = await context.open(located.mount)
      if (filter.excludes(pathBelow(nested, first.virtual))) continue
      // Globs start at the requested path, which this adapter does not know, so the query has none.
      const region = await openSearch(context, located, adapter, { ...query, glob: [] }, excluded, {
        signal,
        onUnreadable,
        ignore,
      })
      for await (const hit of hitsOf(context, region, { signal, ignore })) {
        if (!filter.matches(pathBelow(hit.path, first.virtual))) continue
        yield hit
        left -= 1
        if (left === 0) return
      }
    }
  } catch (error) {
    failure = error
    throw error
  } finally {
    if (context.audit.active) recordFiles(context, { operation, path, signal }, { began, trace, error: failure })
  }
}

function checkQuery(pattern: string, options: WorkspaceSearchOptions): Query {
  const { regex, caseSensitive, maxFileBytes } = options
  if (typeof pattern !== 'string' || pattern === '' || /[\0\n]/.test(pattern)) {
    throw virtualError({
      code: 'EINVAL',
      operation: 'search',
      reason: 'the pattern must be text of one line, and not empty',
      remedy: 'pass what a line should contain',
    })
  }
  const glob = typeof options.glob === 'string' ? [options.glob] : (options.glob ?? [])
  // Hits that the policy hides must not count. This module counts hits, so the query has no limit.
  const maxHits = Number.MAX_SAFE_INTEGER
  return { pattern, regex, caseSensitive, maxFileBytes, maxHits, glob, filter: createGlobFilter(glob) }
}

async function openSearch(
  context: Context,
  located: Located,
  adapter: StorageAdapter,
  query: Omit<Query, 'filter'>,
  excluded: readonly VirtualPath[],
  { signal, onUnreadable, ignore }: Pick<WorkspaceSearchOptions, 'signal' | 'onUnreadable'> & Ignoring,
): Promise<OpenSearch> {
  const { virtual, mount } = located
  if (adapter.search === undefined || mount === undefined) {
    throw virtualError({
      code: 'ENOTSUP',
      operation: 'search',
      path: virtual,
      reason: 'lies in a store that cannot be searched',
      remedy: 'list and read the files instead',
    })
  }
  const exclude = skippedIn(context, virtual, mount, excluded)
  await ignore?.loadBelow(located, adapter, exclude)
  const skips =
    ignore && ((file: MountPath, isDirectory: boolean) => ignore.isIgnored(joinPath(mount.at, file), isDirectory))
  // The store also counts hits that the policy hides, so it must not stop at `maxHits`.
  const view = new View(context.gate, virtual, 'search')
  const maxHits = view.plain ? query.maxHits : Number.MAX_SAFE_INTEGER
  const leftOut = (file: MountPath, error: WorkspaceError): void => {
    const path = joinPath(mount.at, file)
    if (view.visibility(path) !== 'described') return
    const told = translateError(error, { operation: 'search', at: mount.at, path, signal })
    if (isWorkspaceError(told)) onUnreadable?.(path, told)
  }
  const hits = adapter.search(
    { ...query, maxHits, in: located.path, exclude, skips },
    { signal, onUnreadable: leftOut },
  )
  return { start: virtual, at: mount.at, hits, first: await hits.next() }
}

async function* hitsOf(
  context: Context,
  { start, at, hits, first }: OpenSearch,
  { signal, ignore }: Pick<WorkspaceSearchOptions, 'signal'> & Ignoring,
): AsyncGenerator<WorkspaceSearchHit, void, undefined> {
  let result = first
  const view = new View(context.gate, start, 'search')
  try {
    while (result.done !== true) {
      const path = joinPath(at, result.value.path)
      if (view.visibility(path) === 'described' && ignore?.isIgnored(path, false) !== true)
        yield { ...result.value, path }
      result = await hits.next()
    }
  } catch (error) {
    throw translateError(error, { operation: 'search', at, path: start, signal })
  } finally {
    if (result.done !== true) await hits.return?.()
  }
}

function allNested(context: Context, mounts: readonly VirtualPath[]): VirtualPath[] {
  return mounts.flatMap((mount) => [
    mount,
    ...allNested(
      context,
      mountsBelow(context, mount).filter((nested) => mayEnter(context, mount, nested)),
    ),
  ])
}
