import type { FileType } from '@ws/core'

export interface Node {
  readonly type: FileType
  readonly name: string
  /** `undefined` for the root, and for a removed entry. */
  readonly parent: Node | undefined
  readonly mode: number
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number
  readonly version: string
  readonly target: string
  /** Bytes; 0 for other types than files. */
  readonly size: number
  /** A file's present bytes. The array never changes: writes replace it, and appends add bytes after its end. */
  readonly content: Uint8Array
  child(name: string): Node | undefined
  /** Iterates over the directory itself, not a copy: a loop skips entries that are removed meanwhile. */
  children(): IterableIterator<readonly [name: string, node: Node]>
}

const smallestCapacity = 64
const noBytes = new Uint8Array()

/** One entry in memory. Hard links do not exist, so an entry has one place. */
export class MemoryNode implements Node {
  readonly type: FileType
  name: string
  parent: MemoryNode | undefined
  mode: number
  modifiedAt = 0
  version = ''
  target = ''
  readonly entries = new Map<string, MemoryNode>()
  /** A buffer that is longer than the content after an append. */
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

  /** Sets a copy of the bytes as the content, in one step. */
  setContent(bytes: Uint8Array): void {
    this.#bytes = new Uint8Array(bytes)
    this.#size = bytes.length
  }

  /** Copies the entry with everything below. A copy shares the bytes, but not the space after them, where appends go. */
  copyTree(): MemoryNode {
    const root = this.#copy()
    const open: (readonly [MemoryNode, MemoryNode])[] = [[this, root]]
    for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
      const [from, to] = pair
      for (const [name, entry] of from.entries) {
        const copy = entry.#copy()
        copy.parent = to
        to.entries.set(name, copy)
        open.push([entry, copy])
      }
    }
    return root
  }

  #copy(): MemoryNode {
    const { mode, modifiedAt, version, target } = this
    const copy = Object.assign(new MemoryNode(this.type, this.name, mode), { modifiedAt, version, target })
    copy.#bytes = this.#bytes.subarray(0, this.#size) // @defence `.subarray(0, this.#size)` a fork in memory that shares the space of appends
    copy.#size = this.#size
    return copy
  }

  /** Appends bytes. Readers keep the earlier content. */
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
