import { paths, type TransferResult } from '@ws/core'
import type { MountPath, AdapterOptions } from '@ws/core/adapter'
import { failure } from './errors.ts'
import type { Node } from './node.ts'
import { isEmpty, type Lookup, type Tree, typeError } from './tree.ts'

type MoveOptions = AdapterOptions.Move
type CopyOptions = AdapterOptions.Copy

interface Transfer {
  readonly entry: Node
  readonly target: Lookup
}

function prepare(
  tree: Tree,
  operation: 'move' | 'copy',
  source: MountPath,
  destination: MountPath,
  { ifSource, ifDestination, parents = false }: MoveOptions,
): Transfer {
  const entry = tree.find(source, { operation, argument: 'source' })
  if (ifSource !== undefined && ifSource !== entry.version) {
    throw failure('ECONFLICT', operation, source)
  }
  if (entry.type === 'directory' && destination !== source && paths.isWithin(destination, source)) {
    throw failure('intoItself', operation, destination)
  }
  const target = tree.locate(destination, { operation, argument: 'destination' })
  checkCondition(target, ifDestination, operation, destination)
  if (target.missing.length > 1 && !parents) throw failure('noParent', operation, destination)
  return { entry, target }
}

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

export function move(tree: Tree, source: MountPath, destination: MountPath, options: MoveOptions = {}): TransferResult {
  const { entry, target } = prepare(tree, 'move', source, destination, options)
  if (source === destination) return { version: entry.version }
  if (target.entry !== undefined) {
    if (options.overwrite !== true) throw failure('EEXIST', 'move', destination)
    const replaced = target.entry
    checkTypes('move', entry, replaced, destination)
    if (!isEmpty(replaced)) throw failure('ENOTEMPTY', 'move', destination)
    tree.remove(replaced)
  }
  const directory = tree.createDirectories(target.directory, target.missing.slice(0, -1))
  return { version: tree.move(entry, directory, paths.baseName(destination)).version }
}

export function copy(tree: Tree, source: MountPath, destination: MountPath, options: CopyOptions = {}): TransferResult {
  const { entry, target } = prepare(tree, 'copy', source, destination, options)
  if (source === destination) throw failure('ontoItself', 'copy', destination)
  if (target.entry !== undefined && target.entry.parent === undefined) throw failure('EBUSY', 'copy', destination)
  if (entry.type === 'directory' && options.recursive !== true) throw failure('EISDIR', 'copy', source)
  if (target.entry !== undefined) {
    if (options.overwrite !== true) throw failure('EEXIST', 'copy', destination)
    checkMerge(entry, target.entry, destination)
  }
  // The copy uses a snapshot: a destination above the source must not extend the copy.
  const plan = snapshot(entry, source)
  const directory = tree.createDirectories(target.directory, target.missing.slice(0, -1))
  const parent = target.entry?.parent ?? directory
  const made = build(tree, plan, parent, paths.baseName(destination))
  return { version: made.version }
}

/** Checks the whole tree first, so that either everything or nothing is copied. */
function checkMerge(from: Node, to: Node, destination: MountPath): void {
  const left = [{ source: from, existing: to, path: destination }]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { source, existing, path } = next
    checkTypes('copy', source, existing, path)
    if (source.type !== 'directory') continue
    for (const [name, child] of source.children()) {
      const there = existing.child(name)
      if (there !== undefined) left.push({ source: child, existing: there, path: paths.child(path, name) })
    }
  }
}

function checkTypes(operation: string, from: Node, to: Node, destination: MountPath): void {
  if (from.type === to.type) return
  if (to.type === 'directory') throw failure('directoryInTheWay', operation, destination)
  if (from.type === 'directory') throw failure('fileInTheWay', operation, destination)
}

interface Plan {
  readonly node: Node
  readonly children: (readonly [name: string, plan: Plan])[]
}

function snapshot(top: Node, source: MountPath): Plan {
  const plan: Plan = { node: top, children: [] }
  const left = [plan]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { type } = next.node
    if (type === 'other') throw typeError(type, 'copy', source)
    if (type !== 'directory') continue
    for (const [name, node] of next.node.children()) {
      const child: Plan = { node, children: [] }
      next.children.push([name, child])
      left.push(child)
    }
  }
  return plan
}

function build(tree: Tree, plan: Plan, parent: Node, name: string): Node {
  const top = place(tree, plan.node, parent, name)
  const left = [{ plan, made: top }]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    for (const [childName, child] of next.plan.children) {
      left.push({ plan: child, made: place(tree, child.node, next.made, childName) })
    }
  }
  return top
}

function place(tree: Tree, node: Node, parent: Node, name: string): Node {
  const existing = parent.child(name)
  if (node.type === 'directory') return existing ?? tree.create(parent, name, 'directory', node.mode)
  // a replaced file keeps its mode, as in a write
  const keep = node.type === 'file' && existing?.type === 'file'
  if (existing !== undefined && !keep) tree.remove(existing)
  if (node.type === 'symlink') return tree.createLink(parent, name, node.target)
  return tree.setContent(keep ? existing : tree.create(parent, name, 'file', node.mode), node.content)
}
