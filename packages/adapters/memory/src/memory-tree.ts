import type { FileType } from '@ws/core'
import type { MountPath } from '@ws/core/adapter'
import { MemoryNode, type Node } from './node.ts'
import { Tree } from './tree.ts'

let forks = 0

export class MemoryTree extends Tree {
  readonly root: MemoryNode
  readonly #series: string
  #lastVersion = 0
  readonly #now: () => number
  #detachments = 0

  /** @param now the clock. Default: `Date.now`. @param root the root of a fork, with its entries. Default: a new one. */
  constructor(now: () => number = Date.now, root?: MemoryNode) {
    super()
    this.#now = now
    this.root = root ?? new MemoryNode('directory', '', 0o777)
    // a fork keeps the versions that it got, and gives others than the tree that it was copied from
    this.#series = root === undefined ? 'm' : `m${(forks += 1)}-`
    if (root === undefined) this.#stamp(this.root)
  }

  fork(): MemoryTree {
    return new MemoryTree(this.#now, this.root.copyTree())
  }

  get detachments(): number {
    return this.#detachments
  }

  create(directory: MemoryNode, name: string, type: FileType, mode: number): MemoryNode {
    const entry = new MemoryNode(type, name, mode)
    this.#attach(entry, directory)
    this.#stamp(directory, entry)
    return entry
  }

  createLink(directory: MemoryNode, name: string, target: string): MemoryNode {
    const entry = this.create(directory, name, 'symlink', 0o777) // as on Linux, where the permission bits of a link have no meaning
    entry.target = target
    return entry
  }

  setContent(file: MemoryNode, bytes: Uint8Array): MemoryNode {
    file.setContent(bytes)
    this.#stamp(file)
    return file
  }

  append(file: MemoryNode, bytes: Uint8Array): MemoryNode {
    file.append(bytes)
    this.#stamp(file)
    return file
  }

  remove(entry: MemoryNode): void {
    this.#detach(entry)
  }

  move(entry: MemoryNode, directory: MemoryNode, name: string): MemoryNode {
    if (!this.#detach(entry)) return entry
    entry.name = name
    this.#attach(entry, directory)
    this.#stamp(directory)
    this.#touch(entry)
    return entry
  }

  setMode(node: MemoryNode, mode: number): void {
    node.mode = mode
    this.#touch(node)
  }

  setTime(node: MemoryNode, modifiedAt: number): MemoryNode {
    node.modifiedAt = modifiedAt
    this.#touch(node)
    return node
  }

  isAt(node: Node, path: MountPath): boolean {
    const names: string[] = []
    let top = node
    for (; top.parent !== undefined; top = top.parent) names.unshift(top.name)
    return top === this.root && `/${names.join('/')}` === path
  }

  #stamp(...nodes: readonly MemoryNode[]): void {
    const time = Math.trunc(this.#now())
    for (const node of nodes) {
      node.modifiedAt = time
      this.#touch(node)
    }
  }

  /** Gives an entry a new version. No version is used twice. */
  #touch(node: MemoryNode): void {
    this.#lastVersion += 1
    node.version = `${this.#series}${this.#lastVersion}`
  }

  #attach(entry: MemoryNode, directory: MemoryNode): void {
    entry.parent = directory
    directory.entries.set(entry.name, entry)
  }

  /** Removes an entry from its directory. False for the root, which has no directory. */
  #detach(entry: MemoryNode): boolean {
    const { parent } = entry
    if (parent === undefined) return false
    parent.entries.delete(entry.name)
    entry.parent = undefined
    this.#detachments += 1
    this.#stamp(parent)
    return true
  }
}
