import { childPath, isWithin, type TransferResult } from '@ws/core'
import type { CopyOptions, MountPath, MoveOptions } from '@ws/core/adapter'
import { failure } from './errors.ts'
import type { Node } from './node.ts'
import type { MemoryTree, Lookup } from './tree.ts'

interface Transfer {
  readonly entry: Node
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
  if (ifSource !== undefined && ifSource !== entry.version) {
    throw failure('ECONFLICT', operation, source)
  }
  if (entry.isDirectory && destination !== source && isWithin(destination, source)) {
    throw failure('intoItself', operation, destination)
  }
  const target = tree.locate(destination, { operation, argument: 'destination' })
  checkCondition(target, ifDestination, operation, destination)
  if (target.missing.length > 1 && !parents) throw failure('noParent', operation, destination)
  return { entry, target }
}

/** @throws WorkspaceError `ECONFLICT` when the entry is not in the state that is asked for. */
export function checkCondition(
  { entry }: Lookup,
  condition: string | undefined,
  operation: string,
  path: MountPath,
): void {
  if (condition === undefined) return
  const state = entry === undefined ? 'absent' : entry.version
  if (state !== condition) throw failure('ECONFLICT', operation, path)
}

export function move(
  tree: MemoryTree,
  source: MountPath,
  destination: MountPath,
  options: MoveOptions = {},
): TransferResult {
  const { entry, target } = prepare(tree, 'move', source, destination, options)
  if (source === destination) return { version: entry.version }
  if (target.entry !== undefined) {
    if (options.overwrite !== true) throw failure('EEXIST', 'move', destination)
    const replaced = target.entry
    if (replaced.isDirectory && !entry.isDirectory) throw failure('directoryInTheWay', 'move', destination)
    if (!replaced.isDirectory && entry.isDirectory) throw failure('fileInTheWay', 'move', destination)
    if (replaced.children.size > 0) throw failure('ENOTEMPTY', 'move', destination)
    tree.remove(replaced)
  }
  const directory = tree.createDirectories(target.directory, target.missing.slice(0, -1))
  tree.move(entry, directory, nameOf(destination))
  return { version: entry.version }
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
  if (entry.isDirectory && options.recursive !== true) throw failure('EISDIR', 'copy', source)
  if (target.entry !== undefined) {
    if (options.overwrite !== true) throw failure('EEXIST', 'copy', destination)
    checkMerge(entry, target.entry, destination)
  }
  // A snapshot, taken before anything is made: a destination above the source must not grow what is being copied.
  const plan = snapshot(entry)
  const directory = tree.createDirectories(target.directory, target.missing.slice(0, -1))
  const parent = target.entry?.parent ?? directory
  const made = build(tree, plan, parent, nameOf(destination))
  return { version: made.version }
}

/** Nothing is copied when anything could not be: the whole tree is compared first. */
function checkMerge(source: Node, destination: Node, path: MountPath): void {
  const into = destination.isDirectory
  const from = source.isDirectory
  if (into && !from) throw failure('directoryInTheWay', 'copy', path)
  if (!into && from) throw failure('fileInTheWay', 'copy', path)
  if (!from) return
  for (const [name, child] of source.children) {
    const existing = destination.children.get(name)
    if (existing !== undefined) checkMerge(child, existing, childPath(path, name))
  }
}

interface Plan {
  readonly node: Node
  readonly children: readonly (readonly [name: string, plan: Plan])[]
}

function snapshot(node: Node): Plan {
  return { node, children: [...node.children].map(([name, child]) => [name, snapshot(child)] as const) }
}

function build(tree: MemoryTree, { node, children }: Plan, parent: Node, name: string): Node {
  const existing = parent.children.get(name)
  if (node.isDirectory) {
    const directory = existing ?? tree.create(parent, name, 'directory', node.mode)
    for (const [childName, child] of children) build(tree, child, directory, childName)
    return directory
  }
  // a replaced file keeps its mode, as when it is written
  const { isFile } = node
  const keep = isFile && existing?.isFile === true
  if (existing !== undefined && !keep) tree.remove(existing)
  if (!isFile) return tree.createLink(parent, name, node.target)
  const file = keep ? existing : tree.create(parent, name, 'file', node.mode)
  tree.setContent(file, node.content)
  return file
}

function nameOf(path: MountPath): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
