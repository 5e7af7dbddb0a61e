export type NodeType = 'file' | 'directory' | 'symlink'

const smallestCapacity = 64
const noBytes = new Uint8Array()

/** One entry of the tree, with its place and its content. There are no hard links, so that each has one place. */
export class Node {
  readonly type: NodeType
  name: string
  /** The directory that holds it; `undefined` for the root, and for an entry that has been taken away. */
  parent: Node | undefined
  /** Permission bits. */
  mode: number
  /** Milliseconds since the epoch. */
  modifiedAt = 0
  version = ''
  /** The path that a link leads to. */
  target = ''
  /** The entries of a directory, in the order in which they came. A loop over them leaves out those that go meanwhile. */
  readonly children = new Map<string, Node>()
  /** Longer than the content, after an append. */
  #bytes = noBytes
  #size = 0

  constructor(type: NodeType, name: string, mode: number) {
    this.type = type
    this.name = name
    this.mode = mode
  }

  get isFile(): boolean {
    return this.type === 'file'
  }

  get isDirectory(): boolean {
    return this.type === 'directory'
  }

  get isSymlink(): boolean {
    return this.type === 'symlink'
  }

  /** Bytes of the content. */
  get size(): number {
    return this.#size
  }

  /** A file's bytes as they are now. They never change: later writes replace them, and appends go after them. */
  get content(): Uint8Array {
    return this.#bytes.subarray(0, this.#size)
  }

  /** Takes a copy of the bytes as the content, in one step. */
  setContent(bytes: Uint8Array): void {
    this.#bytes = new Uint8Array(bytes)
    this.#size = bytes.length
  }

  /** Puts a copy of the bytes after those that readers hold, which therefore stay the same. */
  append(bytes: Uint8Array): void {
    const size = this.#size + bytes.length
    if (size > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(size, this.#bytes.length * 2, smallestCapacity))
      grown.set(this.content)
      this.#bytes = grown
    }
    this.#bytes.set(bytes, this.#size)
    this.#size = size
  }
}
