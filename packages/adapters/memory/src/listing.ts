import { isWorkspaceError, paths } from '@ws/core'
import type { Entry, MountPath, DriverOptions } from '@ws/core/adapter'
import type { EntryIterator, InnerListOptions } from '@ws/core/inner'
import { failure } from './errors.ts'
import type { Node } from './node.ts'
import type { Tree } from './tree.ts'

export interface LocatedNode {
  readonly path: MountPath
  readonly name: string
  readonly node: Node
}

interface Frame {
  readonly path: MountPath
  readonly node: Node
  readonly children: Iterator<readonly [string, Node]>
}

/** Yields every entry in a directory, parents first, from the live tree. Entries that vanish meanwhile are left out. */
export function* walkTree(
  tree: Tree,
  path: MountPath,
  directory: Node,
  options: Pick<InnerListOptions, 'recursive' | 'exclude' | 'skips' | 'onUnreadable'>,
): Generator<LocatedNode, void, undefined> {
  const { recursive = false, exclude = [], skips, onUnreadable = () => undefined } = options
  const entered = (candidate: MountPath): boolean => !exclude.some((root) => paths.isWithin(candidate, root))
  if (!entered(path)) return
  const frames: Frame[] = [{ path, node: directory, children: directory.children() }]
  let detachments = tree.detachments
  for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
    if (tree.detachments !== detachments) {
      detachments = tree.detachments
      if (!tree.isAt(frame.node, frame.path)) {
        frames.pop()
        detachments = -1 // the one above may be gone too
        continue
      }
    }
    const next = nextOf(tree, frame, frames.length === 1 ? undefined : onUnreadable)
    if (next === undefined) {
      frames.pop()
      continue
    }
    const [name, node] = next
    const found = { path: paths.child(frame.path, name), name, node }
    yield found
    const isDirectory = node.type === 'directory' && tree.isReachable(found.path)
    const enter = recursive && isDirectory && entered(found.path) && skips?.(found.path) !== true
    if (enter) frames.push({ path: found.path, node, children: node.children() })
  }
}

function nextOf(
  tree: Tree,
  { path, children }: Frame,
  onUnreadable: InnerListOptions['onUnreadable'],
): readonly [string, Node] | undefined {
  try {
    const next = children.next()
    return next.done === true ? undefined : next.value
  } catch (error) {
    const explained = tree.explain(error, 'list', path)
    if (onUnreadable === undefined || !isWorkspaceError(explained)) throw explained
    onUnreadable(path, explained)
    return undefined
  }
}

export function list(tree: Tree, path: MountPath, options: DriverOptions.List & InnerListOptions): EntryIterator {
  const entries = entriesOf(tree, path, options)
  const listing: EntryIterator = {
    next: async () => entries.next(),
    nextNow: () => entries.next().value,
    return: async () => entries.return(undefined),
    [Symbol.asyncIterator]: () => listing,
  }
  return listing
}

function* entriesOf(
  tree: Tree,
  path: MountPath,
  options: DriverOptions.List & InnerListOptions,
): Generator<Entry, undefined> {
  try {
    const directory = tree.find(path, { operation: 'list', follow: true })
    if (directory.type !== 'directory') throw failure('ENOTDIR', 'list', path)
    for (const { path: entryPath, name, node } of walkTree(tree, path, directory, options)) {
      const shown = { path: entryPath, name, ...tree.describe(node, options.details) }
      yield tree.isReachable(entryPath) ? shown : { ...shown, name: name.toWellFormed(), unreachable: true }
    }
    return undefined
  } catch (error) {
    throw tree.explain(error, 'list', path)
  }
}
