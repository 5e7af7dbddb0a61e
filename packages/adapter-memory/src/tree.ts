import { childPath, segmentsOf, type Stat } from '@ws/core'
import { LinkSignal, mountRoot, type LinkArgument, type MountPath } from '@ws/core/adapter'
import { failure } from './errors.ts'
import { Node, type NodeType } from './node.ts'

/** Where a path leads. */
export interface Lookup {
  /** The deepest directory on the way that is there; the entry's parent, where nothing or just the entry is missing. */
  readonly directory: Node
  /** The names below `directory` that are not there; none when the entry is. */
  readonly missing: readonly string[]
  /** The entry, where it is there. */
  readonly entry: Node | undefined
}

export interface LocateOptions {
  readonly operation: string
  readonly argument?: LinkArgument | undefined
  /** A link at the end is in the way too. Default false. */
  readonly follow?: boolean | undefined
}

/** The tree of one adapter. Every method is synchronous: nothing happens in between. */
export class MemoryTree {
  readonly root = new Node('directory', '', 0o777)
  #lastVersion = 0
  readonly #now: () => number
  #detachments = 0

  /** @param now the clock. Default: `Date.now`. */
  constructor(now: () => number = Date.now) {
    this.#now = now
    this.stamp(this.root)
    this.touch(this.root)
  }

  /** Grows whenever an entry leaves its place, so that listings need not check theirs in between. */
  get detachments(): number {
    return this.#detachments
  }

  /** Walks to a path. @throws LinkSignal at a link before the end, or with `follow` at it; `ENOTDIR` below a file */
  locate(path: MountPath, { operation, argument, follow = false }: LocateOptions): Lookup {
    const names = segmentsOf(path)
    let directory = this.root
    let at = mountRoot
    for (const [index, name] of names.entries()) {
      const entry = directory.children.get(name)
      if (entry === undefined) return { directory, missing: names.slice(index), entry }
      at = childPath(at, name)
      const last = index === names.length - 1
      if (entry.isSymlink && (!last || follow)) {
        throw new LinkSignal({ argument, at, target: entry.target, rest: names.slice(index + 1).join('/') })
      }
      if (last) return { directory, missing: [], entry }
      if (!entry.isDirectory) throw failure('ENOTDIR', operation, path)
      directory = entry
    }
    return { directory, missing: [], entry: directory }
  }

  /** The entry at a path; `ENOENT` where there is none. */
  find(path: MountPath, options: LocateOptions): Node {
    const { entry } = this.locate(path, options)
    if (entry === undefined) throw failure('ENOENT', options.operation, path)
    return entry
  }

  /** Gives a node its next version; no version is used twice. */
  touch(node: Node): string {
    this.#lastVersion += 1
    node.version = `m${this.#lastVersion}`
    return node.version
  }

  /** Marks a change of the content with the time of the clock. */
  stamp(...nodes: readonly Node[]): void {
    const time = Math.trunc(this.#now())
    for (const node of nodes) node.modifiedAt = time
  }

  stat({ type, size, modifiedAt, mode, version }: Node): Stat {
    return { type, size, modifiedAt, mode, version }
  }

  /** Makes an entry; there must be none. */
  create(directory: Node, name: string, type: NodeType, mode: number): Node {
    const entry = new Node(type, name, mode)
    this.#attach(entry, directory)
    this.stamp(directory, entry)
    this.touch(directory)
    this.touch(entry)
    return entry
  }

  /** Makes directories below one another; the last one. */
  createDirectories(directory: Node, names: readonly string[]): Node {
    return names.reduce((parent, name) => this.create(parent, name, 'directory', 0o755), directory)
  }

  createLink(directory: Node, name: string, target: string): Node {
    const entry = this.create(directory, name, 'symlink', 0o777) // as on Linux: the bits of a link say nothing
    entry.target = target
    return entry
  }

  /** Puts content into a file in one step, as a copy. */
  setContent(file: Node, bytes: Uint8Array): string {
    file.setContent(bytes)
    this.stamp(file)
    return this.touch(file)
  }

  remove(entry: Node): void {
    this.#detach(entry)
  }

  move(entry: Node, directory: Node, name: string): void {
    if (!this.#detach(entry)) return
    entry.name = name
    this.#attach(entry, directory)
    this.stamp(directory)
    this.touch(directory)
    this.touch(entry)
  }

  #attach(entry: Node, directory: Node): void {
    entry.parent = directory
    directory.children.set(entry.name, entry)
  }

  /** False for the root, which has no place to leave. */
  #detach(entry: Node): boolean {
    const { parent } = entry
    if (parent === undefined) return false
    parent.children.delete(entry.name)
    entry.parent = undefined
    this.#detachments += 1
    this.stamp(parent)
    this.touch(parent)
    return true
  }
}
