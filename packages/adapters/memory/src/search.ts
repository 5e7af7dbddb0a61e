import { paths, type WorkspaceError } from '@ws/core'
import {
  concurrency,
  createGlobFilter,
  type MountPath,
  type SearchHit,
  type DriverOptions,
  type AdapterOptions,
} from '@ws/core/adapter'
import { createLineMatcher, tooLargeToSearch } from '@ws/text-search'
import { walkTree } from './listing.ts'
import type { Node } from './node.ts'
import type { Tree } from './tree.ts'

export async function* search(
  tree: Tree,
  query: DriverOptions.Query,
  { signal, onUnreadable }: AdapterOptions.Search,
): AsyncGenerator<SearchHit, undefined> {
  const { in: path, glob, exclude, skips, maxHits, maxFileBytes } = query
  const matcher = createLineMatcher(query)
  const filter = createGlobFilter(glob)
  const start = startOf(tree, path)
  let hits = 0
  const pace = new concurrency.Pace(signal)
  for (const found of entriesAt(tree, path, start, { exclude, skips })) {
    if (pace.isDue) await pace.rest()
    const { node } = found
    if (node.type !== 'file' || !tree.isReachable(found.path)) continue
    if (found.below !== undefined && (!filter.matches(found.below) || skips?.(found.path, false))) continue
    const { path: at } = found
    if (node.size > maxFileBytes) {
      onUnreadable?.(at, tooLargeToSearch(at, node.size, maxFileBytes))
      continue
    }
    const onPartial = (error: WorkspaceError): void => onUnreadable?.(at, error)
    for await (const hit of matcher.searchBytes(node.content, { signal, path: at, onPartial })) {
      if (hits >= maxHits) return undefined
      hits += 1
      yield { path: found.path, ...hit }
    }
  }
  return undefined
}

function startOf(tree: Tree, path: MountPath): Node {
  try {
    return tree.find(path, { operation: 'search', follow: true })
  } catch (error) {
    throw tree.explain(error, 'search', path)
  }
}

interface Candidate {
  readonly path: MountPath
  readonly node: Node
  /** The path below the searched directory; absent for a file that `in` names, which no glob leaves out. */
  readonly below?: string
}

function* entriesAt(
  tree: Tree,
  path: MountPath,
  start: Node,
  { exclude, skips }: Pick<DriverOptions.Query, 'exclude' | 'skips'>,
): Generator<Candidate, void, undefined> {
  if (start.type === 'file') {
    if (!exclude.some((root) => paths.isWithin(path, root))) yield { path, node: start }
    return
  }
  const skipped = path === '/' ? 1 : path.length + 1
  const enters = skips && ((directory: MountPath) => skips(directory, true))
  for (const found of walkTree(tree, path, start, { recursive: true, exclude, skips: enters })) {
    // a link below is skipped, as in listings
    if (exclude.includes(found.path)) continue
    yield { path: found.path, node: found.node, below: found.path.slice(skipped) }
  }
}
