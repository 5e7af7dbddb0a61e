import { childPath, isWithin } from '@ws/core'
import type { DriverListOptions, Entry, EntryIterator, ListOptions, MountPath } from '@ws/core/adapter'
import { failure } from './errors.ts'
import type { Node } from './node.ts'
import type { MemoryTree } from './tree.ts'

/** One found entry, with what it is in the tree. */
export interface Found {
  readonly path: MountPath
  readonly name: string
  readonly node: Node
}

interface Frame {
  readonly path: MountPath
  readonly node: Node
  readonly children: Iterator<[string, Node]>
}

/** Everything in a directory, live, parents before their children; entries that vanish meanwhile are left out. */
export function* walkTree(
  tree: MemoryTree,
  path: MountPath,
  directory: Node,
  { recursive = false, exclude = [], skips }: Pick<ListOptions, 'recursive' | 'exclude' | 'skips'>,
): Generator<Found, void, undefined> {
  const entered = (candidate: MountPath): boolean => !exclude.some((root) => isWithin(candidate, root))
  if (!entered(path)) return
  const frames: Frame[] = [{ path, node: directory, children: directory.children.entries() }]
  let detachments = tree.detachments
  for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
    if (tree.detachments !== detachments) {
      detachments = tree.detachments
      if (!isAttached(frame.node, frame.path, tree)) {
        frames.pop()
        detachments = -1 // the one above may be gone too
        continue
      }
    }
    const next = frame.children.next()
    if (next.done === true) {
      frames.pop()
      continue
    }
    const [name, node] = next.value
    const found = { path: childPath(frame.path, name), name, node }
    yield found
    const enter = recursive && node.isDirectory && entered(found.path) && skips?.(found.path) !== true
    if (enter) frames.push({ path: found.path, node, children: node.children.entries() })
  }
}

/** It still is where the path says: neither it nor a directory above has been deleted or moved. */
function isAttached(node: Node, path: MountPath, tree: MemoryTree): boolean {
  const names: string[] = []
  let top = node
  for (; top.parent !== undefined; top = top.parent) names.unshift(top.name)
  return top === tree.root && `/${names.join('/')}` === path
}

/** A listing: everything is at hand. */
export function list(tree: MemoryTree, path: MountPath, options: DriverListOptions): EntryIterator {
  const entries = entriesOf(tree, path, options)
  const listing: EntryIterator = {
    next: async () => entries.next(),
    nextNow: () => entries.next().value,
    return: async () => entries.return(undefined),
    [Symbol.asyncIterator]: () => listing,
  }
  return listing
}

function* entriesOf(tree: MemoryTree, path: MountPath, options: DriverListOptions): Generator<Entry, undefined> {
  const directory = tree.find(path, { operation: 'list', follow: true })
  if (!directory.isDirectory) throw failure('ENOTDIR', 'list', path)
  for (const { path: entryPath, name, node } of walkTree(tree, path, directory, options)) {
    yield { path: entryPath, name, ...tree.stat(node) }
  }
  return undefined
}
