import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { constants as zlib, zstdCompressSync, zstdDecompressSync } from 'node:zlib'

import { contentOf, failed } from '@ws/tree/disk'

/** Bytes compressed together, so many small files cost little. */
const blockBytes = 1024 * 1024
/** A pack of this size is complete; the next block begins another. */
const packBytes = 64 * 1024 * 1024
const blocksKept = 32

export interface ContentLocation {
  readonly pack: number
  /** Bytes from the start of the pack to the compressed block, and the length of the block. */
  readonly block: number
  readonly length: number
  /** Bytes from the start of the decompressed block. */
  readonly start: number
  readonly size: number
}

interface Waiting {
  readonly content: string
  readonly bytes: Uint8Array
  readonly start: number
}

interface PackMark {
  readonly last: number
  readonly end: number
  readonly size: number
}

/** Growing files of compressed blocks. The index records the place of each content; other bytes are waste. */
export class Packs {
  readonly #directory: string
  readonly #placed: (content: string, place: ContentLocation) => void
  readonly #blocks = new Map<string, Uint8Array>()
  #waiting: Waiting[] = []
  #waitingBytes = 0
  #first = 1
  #size: number | undefined
  #open: { readonly number: number; readonly fd: number; end: number } | undefined

  /** @param placed called with the place of each content, once its block is written */
  constructor(directory: string, placed: (content: string, place: ContentLocation) => void) {
    this.#directory = directory
    this.#placed = placed
  }

  get size(): number {
    this.#size ??= this.numbers().reduce((sum, number) => sum + this.sizeOf(number), 0)
    return this.#size
  }

  mark(): PackMark {
    const last = this.numbers().at(-1) ?? 0
    return { last, end: last === 0 ? 0 : this.sizeOf(last), size: this.size }
  }

  /** Undoes all writes since the mark, and drops waiting contents. The index names none of them. */
  rollBack({ last, end }: PackMark): void {
    this.drop()
    this.close()
    this.#size = undefined
    for (const number of this.numbers()) if (number > last) this.remove(number)
    if (last === 0) return
    const fd = openSync(this.#path(last), constants.O_WRONLY | constants.O_NOFOLLOW)
    try {
      ftruncateSync(fd, end)
    } finally {
      closeSync(fd)
    }
  }

  numbers(): number[] {
    return readdirSync(this.#directory)
      .flatMap((name) => /^pack-(\d{1,9})$/u.exec(name)?.[1] ?? [])
      .map(Number)
      .sort((left, right) => left - right)
  }

  sizeOf(number: number): number {
    const fd = openSync(this.#path(number), constants.O_RDONLY | constants.O_NOFOLLOW)
    try {
      return fstatSync(fd).size
    } finally {
      closeSync(fd)
    }
  }

  add(content: string, bytes: Uint8Array): void {
    this.#waiting.push({ content, bytes, start: this.#waitingBytes })
    this.#waitingBytes += bytes.length
    if (this.#waitingBytes >= blockBytes) this.#writeBlock()
  }

  /**
   * Writes all added contents to their packs before the index names them. A power cut can still lose contents; their hashes show the loss.
   * Waiting for the disk would cost every turn more than its scan.
   */
  flush(): void {
    this.#writeBlock()
  }

  drop(): void {
    this.#waiting = []
    this.#waitingBytes = 0
  }

  read(content: string, { pack, block, length, start, size }: ContentLocation): Uint8Array {
    let bytes: Uint8Array
    try {
      bytes = this.#block(pack, block, length).subarray(start, start + size)
    } catch (error) {
      throw damaged(error)
    }
    if (bytes.length !== size || contentOf(bytes) !== content) throw damaged(undefined)
    return bytes
  }

  remove(number: number): void {
    if (this.#open?.number === number) this.close()
    for (const key of this.#blocks.keys()) if (key.startsWith(`${number} `)) this.#blocks.delete(key)
    this.#size = undefined
    unlinkSync(this.#path(number))
  }

  /** Makes later blocks go to newer packs, because the contents of this pack are being moved. */
  avoid(number: number): void {
    this.#first = number + 1
  }

  close(): void {
    if (this.#open === undefined) return
    closeSync(this.#open.fd)
    this.#open = undefined
  }

  #block(pack: number, block: number, length: number): Uint8Array {
    const key = `${pack} ${block}`
    const known = this.#blocks.get(key)
    if (known !== undefined) return known
    const compressed = new Uint8Array(length)
    const fd = openSync(this.#path(pack), constants.O_RDONLY | constants.O_NOFOLLOW)
    try {
      let done = 0
      while (done < length) {
        const count = readSync(fd, compressed, done, length - done, block + done)
        if (count === 0) break
        done += count
      }
    } finally {
      closeSync(fd)
    }
    const bytes = zstdDecompressSync(compressed)
    if (this.#blocks.size >= blocksKept) this.#blocks.delete(this.#blocks.keys().next().value ?? '')
    this.#blocks.set(key, bytes)
    return bytes
  }

  #writeBlock(): void {
    if (this.#waiting.length === 0) return
    const waiting = this.#waiting
    const compressed = zstdCompressSync(Buffer.concat(waiting.map(({ bytes }) => bytes)), {
      params: { [zlib.ZSTD_c_compressionLevel]: 1 },
    })
    this.drop()
    const pack = this.#current()
    const block = pack.end
    let done = 0
    while (done < compressed.length) done += writeSync(pack.fd, compressed, done, compressed.length - done)
    pack.end += compressed.length
    this.#size = undefined
    for (const { content, bytes, start } of waiting) {
      this.#placed(content, { pack: pack.number, block, length: compressed.length, start, size: bytes.length })
    }
  }

  #current(): { readonly number: number; readonly fd: number; end: number } {
    if (this.#open !== undefined && this.#open.end < packBytes) return this.#open
    this.close()
    const last = this.numbers().at(-1) ?? 0
    const isFull = last < this.#first || this.sizeOf(last) >= packBytes
    const number = isFull ? Math.max(last + 1, this.#first) : last
    const flags = constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW
    const fd = openSync(this.#path(number), flags, 0o600)
    this.#open = { number, fd, end: fstatSync(fd).size }
    return this.#open
  }

  #path(number: number): string {
    return join(this.#directory, `pack-${number}`)
  }
}

function damaged(native: unknown): Error {
  return failed(
    'EIO',
    'saved bytes are damaged, and nothing was changed',
    'use another checkpoint, or give the `paths` that you need most',
    native,
  )
}
