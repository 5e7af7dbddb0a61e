import { childPath, isWithin, type TransferResult } from '@ws/core'
import type { CopyOptions, MountPath, MoveOptions } from '@ws/core/adapter'
import { failure } from './errors.ts'
import { childrenOf, isEmpty, type Link, type MemoryTree, type Lookup } from './tree.ts'

interface Transfer {
  readonly entry: Link
  readonly target: Lookup
}

/** Everything that move and copy check alike, the source first. */
function prepare(
  tree: MemoryTree,
  operation: 'move' | 'copy',
  source: MountPath,
  destination: MountPath,
  { ifSource, ifDestination, parents = false }: MoveOptions,
): Transfer {
  const entry = tree.find(source, { operation, argument: 'source' })
  if (ifSource !== undefined && ifSource !== tree.version(entry.getNode())) {
    throw failure('ECONFLICT', operation, source)
  }
  const isDirectory = entry.getNode().isDirectory()
  if (isDirectory && destination !== source && isWithin(destination, source)) {
    throw failure('intoItself', operation, destination)
  }
  const target = tree.locate(destination, { operation, argument: 'destination' })
  checkCondition(tree, target, ifDestination, operation, destination)
  if (target.missing.length > 1 && !parents) throw failure('noParent', operation, destination)
  return { entry, target }
}

/** @throws WorkspaceError `ECONFLICT` when the entry is not in the state that is asked for. */
export function checkCondition(
  tree: MemoryTree,
  { entry }: Lookup,
  condition: string | undefined,
  operation: string,
  path: MountPath,
): void {
  if (condition === undefined) return
  const state = entry === undefined ? 'absent' : tree.version(entry.getNode())
  if (state !== condition) throw failure('ECONFLICT', operation, path)
}

export function move(
  tree: MemoryTree,
  source: MountPath,
  destination: MountPath,
  options: MoveOptions = {},
): TransferResult {
  const { entry, target } = prepare(tree, 'move', source, destination, options)
  const node = entry.getNode()
  if (source === destination) return { version: tree.version(node) }
  if (target.entry !== undefined) {
    if (options.overwrite !== true) throw failure('EEXIST', 'move', destination)
    const replaced = target.entry.getNode()
    if (replaced.isDirectory() && !node.isDirectory()) throw failure('directoryInTheWay', 'move', destination)
    if (!replaced.isDirectory() && node.isDirectory()) throw failure('fileInTheWay', 'move', destination)
    if (replaced.isDirectory() && !isEmpty(target.entry)) throw failure('ENOTEMPTY', 'move', destination)
    tree.remove(target.entry)
  }
  const directory = tree.createDirectories(target.directory, target.missing.slice(0, -1))
  tree.move(entry, directory, nameOf(destination))
  return { version: tree.version(node) }
}

export function copy(
  tree: MemoryTree,
  source: MountPath,
  destination: MountPath,
  options: CopyOptions = {},
): TransferResult {
  const { entry, target } = prepare(tree, 'copy', source, destination, options)
  if (source === destination) throw failure('ontoItself', 'copy', destination)
  if (target.entry === tree.root) throw failure('EBUSY', 'copy', destination)
  if (entry.getNode().isDirectory() && options.recursive !== true) throw failure('EISDIR', 'copy', source)
  if (target.entry !== undefined) {
    if (options.overwrite !== true) throw failure('EEXIST', 'copy', destination)
    checkMerge(entry, target.entry, destination)
  }
  // A snapshot, taken before anything is made: a destination above the source must not grow what is being copied.
  const plan = snapshot(entry)
  const directory = tree.createDirectories(target.directory, target.missing.slice(0, -1))
  const parent = target.entry?.parent ?? directory
  const made = build(tree, plan, parent, nameOf(destination))
  return { version: tree.version(made.getNode()) }
}

/** Nothing is copied when anything could not be: the whole tree is compared first. */
function checkMerge(source: Link, destination: Link, path: MountPath): void {
  const into = destination.getNode().isDirectory()
  const from = source.getNode().isDirectory()
  if (into && !from) throw failure('directoryInTheWay', 'copy', path)
  if (!into && from) throw failure('fileInTheWay', 'copy', path)
  if (!from) return
  for (const [name, child] of childrenOf(source)) {
    const existing = destination.children.get(name)
    if (existing !== undefined) checkMerge(child, existing, childPath(path, name))
  }
}

interface Plan {
  readonly link: Link
  readonly children: readonly (readonly [name: string, plan: Plan])[]
}

function snapshot(link: Link): Plan {
  return { link, children: [...childrenOf(link)].map(([name, child]) => [name, snapshot(child)] as const) }
}

function build(tree: MemoryTree, { link, children }: Plan, parent: Link, name: string): Link {
  const node = link.getNode()
  const existing = parent.children.get(name)
  if (node.isDirectory()) {
    const directory = existing ?? tree.create(parent, name, 'directory', node.perm)
    for (const [childName, child] of children) build(tree, child, directory, childName)
    return directory
  }
  // a replaced file keeps its mode, as when it is written
  const isFile = !node.isSymlink()
  const keep = isFile && existing?.getNode().isFile() === true
  if (existing !== undefined && !keep) tree.remove(existing)
  if (!isFile) return tree.createLink(parent, name, node.symlink)
  const file = keep ? existing : tree.create(parent, name, 'file', node.perm)
  tree.setContent(file, tree.content(link))
  return file
}

function nameOf(path: MountPath): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
