import { childPath, isWithin } from '@ws/core'
import type { DriverListOptions, Entry, EntryIterator, ListOptions, MountPath } from '@ws/core/adapter'
import { failure } from './errors.ts'
import { childrenOf, type Link, type MemoryTree } from './tree.ts'

/** One found entry, with what it is in the tree. */
export interface Found {
  readonly path: MountPath
  readonly name: string
  readonly link: Link
}

interface Frame {
  readonly path: MountPath
  readonly link: Link
  readonly children: Iterator<[string, Link]>
}

/** Everything in a directory, live, parents before their children; entries that vanish meanwhile are left out. */
export function* walkTree(
  tree: MemoryTree,
  path: MountPath,
  directory: Link,
  { recursive = false, exclude = [], skips }: Pick<ListOptions, 'recursive' | 'exclude' | 'skips'>,
): Generator<Found, void, undefined> {
  const entered = (candidate: MountPath): boolean => !exclude.some((root) => isWithin(candidate, root))
  if (!entered(path)) return
  const frames: Frame[] = [{ path, link: directory, children: childrenOf(directory) }]
  let detachments = tree.detachments
  for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
    if (tree.detachments !== detachments) {
      detachments = tree.detachments
      if (!isAttached(frame.link, frame.path, tree)) {
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
    const [name, link] = next.value
    const found = { path: childPath(frame.path, name), name, link }
    yield found
    const enter = recursive && link.getNode().isDirectory() && entered(found.path) && skips?.(found.path) !== true
    if (enter) frames.push({ path: found.path, link, children: childrenOf(link) })
  }
}

/** It still is where the path says: neither it nor a directory above has been deleted or moved. */
function isAttached(link: Link, path: MountPath, tree: MemoryTree): boolean {
  let current = link
  while (current !== tree.root) {
    if (current.parent?.children.get(current.name) !== current) return false
    current = current.parent
  }
  return link === tree.root || link.getPath() === path
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
  if (!directory.getNode().isDirectory()) throw failure('ENOTDIR', 'list', path)
  for (const { path: entryPath, name, link } of walkTree(tree, path, directory, options)) {
    yield { path: entryPath, name, ...tree.stat(link) }
  }
  return undefined
}
