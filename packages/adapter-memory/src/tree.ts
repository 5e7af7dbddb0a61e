import { childPath, segmentsOf, type Stat } from '@ws/core'
import { LinkSignal, mountRoot, type LinkArgument, type MountPath } from '@ws/core/adapter'
import { Volume } from 'memfs'
import { failure } from './errors.ts'

// memfs's file tree itself: its path functions follow links and check permissions against the user of this process
type Core = Volume['_core']
/** A named place in the tree; its node holds the content. */
export type Link = Core['root']
export type Node = ReturnType<Link['getNode']>

/** The file types of POSIX, as bits of the mode. */
const typeBits = { file: 0o100000, directory: 0o040000, symlink: 0o120000 }

/** Where a path leads. */
export interface Lookup {
  /** The deepest directory on the way that is there; the entry's parent, where nothing or just the entry is missing. */
  readonly directory: Link
  /** The names below `directory` that are not there; none when the entry is. */
  readonly missing: readonly string[]
  /** The entry, where it is there. */
  readonly entry: Link | undefined
}

export interface LocateOptions {
  readonly operation: string
  readonly argument?: LinkArgument | undefined
  /** A link at the end is in the way too. Default false. */
  readonly follow?: boolean | undefined
}

/** The tree of one adapter. Every method is synchronous: nothing happens in between. */
export class MemoryTree {
  readonly #core = new Volume()._core
  readonly #versions = new WeakMap<Node, string>()
  #lastVersion = 0
  readonly #now: (() => number) | undefined
  #detachments = 0

  /** @param now the clock; that of memfs without it */
  constructor(now?: () => number) {
    this.#now = now
    this.stamp(this.root.getNode())
  }

  get root(): Link {
    return this.#core.root
  }

  /** Grows whenever an entry leaves its place, so that listings need not check theirs in between. */
  get detachments(): number {
    return this.#detachments
  }

  /**
   * Walks to a path, name by name.
   *
   * @throws LinkSignal at a link before the end, or with `follow` at the end. WorkspaceError `ENOTDIR` below a file.
   */
  locate(path: MountPath, { operation, argument, follow = false }: LocateOptions): Lookup {
    const names = segmentsOf(path)
    let directory = this.#core.root
    let at = mountRoot
    for (const [index, name] of names.entries()) {
      const entry = directory.children.get(name)
      if (entry === undefined) return { directory, missing: names.slice(index), entry }
      at = childPath(at, name)
      const node = entry.getNode()
      const last = index === names.length - 1
      if (node.isSymlink() && (!last || follow)) {
        throw new LinkSignal({ argument, at, target: node.symlink, rest: names.slice(index + 1).join('/') })
      }
      if (last) return { directory, missing: [], entry }
      if (!node.isDirectory()) throw failure('ENOTDIR', operation, path)
      directory = entry
    }
    return { directory, missing: [], entry: directory }
  }

  /** The entry at a path; `ENOENT` where there is none. */
  find(path: MountPath, options: LocateOptions): Link {
    const { entry } = this.locate(path, options)
    if (entry === undefined) throw failure('ENOENT', options.operation, path)
    return entry
  }

  version(node: Node): string {
    return this.#versions.get(node) ?? this.touch(node)
  }

  /** Gives a node its next version; no version is used twice. */
  touch(node: Node): string {
    this.#lastVersion += 1
    const version = `m${this.#lastVersion}`
    this.#versions.set(node, version)
    return version
  }

  /** Marks a change of the content with the time of the clock, where there is one. */
  stamp(...nodes: readonly Node[]): void {
    if (this.#now === undefined) return // memfs has done it
    const time = new Date(this.#now())
    for (const node of nodes) node.mtime = time
  }

  stat(entry: Link): Stat {
    const node = entry.getNode()
    const type = node.isDirectory() ? 'directory' : node.isSymlink() ? 'symlink' : 'file'
    return {
      type,
      size: type === 'file' ? node.getSize() : 0,
      modifiedAt: node.mtime.getTime(),
      mode: node.perm & 0o777,
      version: this.version(node),
    }
  }

  /** Makes an entry; there must be none. */
  create(directory: Link, name: string, type: keyof typeof typeBits, mode: number): Link {
    const entry = directory.createChild(name, this.#core.createNode(typeBits[type] | mode))
    this.stamp(directory.getNode(), entry.getNode())
    this.touch(directory.getNode())
    this.touch(entry.getNode())
    return entry
  }

  /** Makes directories below one another; the last one. */
  createDirectories(directory: Link, names: readonly string[]): Link {
    return names.reduce((parent, name) => this.create(parent, name, 'directory', 0o755), directory)
  }

  createLink(directory: Link, name: string, target: string): Link {
    const entry = this.create(directory, name, 'symlink', 0o777)
    const node = entry.getNode()
    const { mode } = node
    node.makeSymlink(target)
    node.mode = mode // as on Linux: the bits of a link say nothing
    this.stamp(node)
    return entry
  }

  /** Puts content into a file in one step, as a copy. */
  setContent(entry: Link, bytes: Uint8Array): string {
    const node = entry.getNode()
    node.setBuffer(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
    this.stamp(node)
    return this.touch(node)
  }

  /** A file's bytes as they are now. They never change: later writes replace them, and appends go after them. */
  content(entry: Link): Uint8Array {
    const node = entry.getNode()
    return node.buf.subarray(0, node.getSize())
  }

  remove(entry: Link): void {
    const { parent } = entry
    if (parent === undefined) return
    this.#detach(parent, entry)
    const pending = [entry]
    for (let link = pending.pop(); link !== undefined; link = pending.pop()) {
      for (const [, child] of childrenOf(link)) pending.push(child)
      this.#core.deleteNode(link.getNode())
    }
  }

  move(entry: Link, directory: Link, name: string): void {
    const { parent } = entry
    if (parent === undefined) return
    this.#detach(parent, entry)
    entry.name = name
    entry.steps = [...directory.steps, name]
    directory.setChild(name, entry)
    this.stamp(directory.getNode())
    this.touch(directory.getNode())
    this.touch(entry.getNode())
  }

  #detach(parent: Link, entry: Link): void {
    parent.deleteChild(entry)
    this.#detachments += 1
    this.stamp(parent.getNode())
    this.touch(parent.getNode())
  }
}

/** The entries of a directory, live: those that go meanwhile are left out, those that come may be seen. */
export function* childrenOf(directory: Link): Generator<[name: string, entry: Link], void, undefined> {
  for (const [name, entry] of directory.children) {
    if (entry !== undefined && name !== '.' && name !== '..') yield [name, entry]
  }
}

export function isEmpty(directory: Link): boolean {
  return childrenOf(directory).next().done === true
}
