import type { FileType } from '@ws/core'

export interface Node {
  readonly type: FileType
  readonly name: string
  /** The directory that holds it; `undefined` for the root, and for an entry that has been taken away. */
  readonly parent: Node | undefined
  readonly mode: number
  readonly modifiedAt: number
  readonly version: string
  readonly target: string
  /** Bytes of the content; 0 for other types than files. */
  readonly size: number
  /** A file's bytes as they are now. They never change: later writes replace them, and appends go after them. */
  readonly content: Uint8Array
  child(name: string): Node | undefined
  /** The entries of a directory, live: a loop over them leaves out those that go meanwhile. */
  children(): IterableIterator<readonly [name: string, node: Node]>
}

const smallestCapacity = 64
const noBytes = new Uint8Array()

/** One entry in memory, with its place and its content. There are no hard links, so that each has one place. */
export class MemoryNode implements Node {
  readonly type: FileType
  name: string
  parent: MemoryNode | undefined
  mode: number
  modifiedAt = 0
  version = ''
  target = ''
  /** In the order in which they came. */
  readonly entries = new Map<string, MemoryNode>()
  /** Longer than the content, after an append. */
  #bytes = noBytes
  #size = 0

  constructor(type: FileType, name: string, mode: number) {
    this.type = type
    this.name = name
    this.mode = mode
  }

  get size(): number {
    return this.#size
  }

  get content(): Uint8Array {
    return this.#bytes.subarray(0, this.#size)
  }

  child(name: string): MemoryNode | undefined {
    return this.entries.get(name)
  }

  children(): IterableIterator<readonly [string, MemoryNode]> {
    return this.entries.entries()
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
