import {
  createGlobFilter,
  isWithin,
  type MountPath,
  type SearchHit,
  type SearchOptions,
  type SearchQuery,
} from '@ws/core'
import { createLineMatcher } from '@ws/text-search'
import { invalid } from './errors.ts'
import { walkTree } from './listing.ts'
import type { Link, MemoryTree } from './tree.ts'

/** Milliseconds of searching after which others get their turn. */
const turn = 10

export async function* search(
  open: () => MemoryTree,
  query: SearchQuery,
  { signal }: SearchOptions,
): AsyncGenerator<SearchHit, undefined> {
  signal?.throwIfAborted()
  const { in: path, glob, exclude = [], maxHits = 1000, maxFileBytes = 32 * 1024 * 1024 } = query
  const tree = open()
  for (const limit of [maxHits, maxFileBytes]) {
    if (Number.isNaN(limit) || limit < 0) throw invalid('search', path, 'was given a limit that is no number from 0')
  }
  const matcher = createLineMatcher(query)
  const filter = createGlobFilter(glob)
  const start = tree.find(path, { operation: 'search', follow: true })
  let hits = 0
  let started = performance.now()
  for (const found of filesAt(tree, path, start, exclude)) {
    const { link } = found
    if (found.below !== undefined && !filter.matches(found.below)) continue
    if (link.getNode().getSize() > maxFileBytes) continue
    for await (const hit of matcher.searchBytes(tree.content(link), { signal, path: found.path })) {
      if (hits >= maxHits) return undefined
      hits += 1
      yield { path: found.path, ...hit }
      signal?.throwIfAborted()
      open()
    }
    if (performance.now() - started > turn) {
      await new Promise((resolve) => setImmediate(resolve))
      signal?.throwIfAborted()
      open()
      started = performance.now()
    }
  }
  return undefined
}

interface File {
  readonly path: MountPath
  readonly link: Link
  /** The path below what is searched; absent for a file that was asked for itself, which no glob leaves out. */
  readonly below?: string
}

function* filesAt(
  tree: MemoryTree,
  path: MountPath,
  start: Link,
  exclude: readonly MountPath[],
): Generator<File, void, undefined> {
  if (start.getNode().isFile()) {
    if (!exclude.some((root) => isWithin(path, root))) yield { path, link: start }
    return
  }
  const skipped = path === '/' ? 1 : path.length + 1
  for (const found of walkTree(tree, path, start, { recursive: true, exclude })) {
    // a link below is left alone, as in listings; an excluded entry is seen by listings only
    if (!found.link.getNode().isFile() || exclude.includes(found.path)) continue
    yield { path: found.path, link: found.link, below: found.path.slice(skipped) }
  }
}
