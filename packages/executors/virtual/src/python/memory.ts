import { CallError } from './errors.ts'
import type { Exports } from './web-assembly.ts'

const page = 65_536
const mebibyte = 1024 * 1024
/** The limit with which CPython was compiled. */
const built = 512 * mebibyte
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

interface StatFields {
  readonly mode: number
  readonly size: number
  readonly modifiedAt: number
  readonly number: bigint
}

interface EntryFields {
  readonly number: bigint
  readonly next: number
  readonly needed: number
  readonly type: number
  readonly bytes: Uint8Array
}

type Bound = Pick<Exports, 'memory' | '__indirect_function_table'>

/** The interpreter's memory, with the structures of its system calls. It and the content of open files have one limit. */
export class Memory {
  readonly most: number
  /** True after the last request for memory was refused. */
  isShort = false
  #exports: Bound | undefined
  #outside = 0

  constructor(most: number) {
    this.most = Math.min(most, built)
  }

  bind(exports: Bound): void {
    this.#exports = exports
  }

  get #bound(): Bound {
    if (this.#exports === undefined) throw new Error('the interpreter has not started')
    return this.#exports
  }

  get #view(): DataView {
    return new DataView(this.#bound.memory.buffer)
  }

  /** Accounts for memory outside of the interpreter. @throws CallError `ENOMEM` beyond the limit */
  charge(bytes: number): void {
    // @defence python program that takes: is bounded, and says why
    if (bytes > 0 && this.#outside + bytes + this.#bound.memory.buffer.byteLength > this.most) {
      this.isShort = true
      throw new CallError('ENOMEM')
    }
    this.#outside += bytes
  }

  /** @returns 1, or 0 for a size beyond the limit. The program then gets a MemoryError */
  grow(size: number): number {
    const { memory } = this.#bound
    const has = memory.buffer.byteLength
    const most = this.most - this.#outside
    this.isShort = true
    if (size > most) return 0 // @defence python program that takes: is bounded, and says why
    const more = Math.min(most - size, Math.max(0, Math.min(has * 1.2, has + 32 * mebibyte) - size))
    try {
      memory.grow(Math.ceil((size - has) / page) + Math.floor(more / page))
    } catch {
      return 0 // the machine has no more memory
    }
    this.isShort = false
    return 1
  }

  bytes(pointer: number, length: number): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#bound.memory.buffer, pointer >>> 0, length)
  }

  text(pointer: number): string {
    const all = new Uint8Array(this.#bound.memory.buffer)
    const bytes = all.subarray(pointer >>> 0, all.indexOf(0, pointer >>> 0))
    try {
      return strict.decode(bytes)
    } catch {
      throw new CallError('EILSEQ') // the workspace has no names that are not UTF-8
    }
  }

  parts(pointer: number, count: number): Uint8Array[] {
    const view = this.#view
    return Array.from({ length: count }, (_, index) =>
      this.bytes(view.getUint32(pointer + 8 * index, true), view.getUint32(pointer + 8 * index + 4, true)),
    )
  }

  number(pointer: number): number {
    return this.#view.getInt32(pointer, true)
  }

  long(pointer: number): number {
    return Number(this.#view.getBigInt64(pointer, true))
  }

  setNumber(pointer: number, value: number): void {
    this.#view.setInt32(pointer, value, true)
  }

  setNumbers(pointers: readonly number[], values: readonly number[]): void {
    pointers.forEach((pointer, index) => this.setNumber(pointer, values[index] ?? 0))
  }

  setLong(pointer: number, value: bigint): void {
    this.#view.setBigInt64(pointer, value, true)
  }

  /** @returns the number of bytes with the final zero */
  setText(pointer: number, text: string): number {
    const bytes = Buffer.from(`${text}\0`)
    this.bytes(pointer, bytes.length).set(bytes)
    return bytes.length
  }

  sizes(texts: readonly string[]): readonly number[] {
    return [texts.length, texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 1, 0)]
  }

  setTexts(pointers: number, bytes: number, texts: readonly string[]): void {
    let at = bytes
    texts.forEach((text, index) => {
      this.setNumber(pointers + 4 * index, at)
      at += this.setText(at, text)
    })
  }

  setStat(pointer: number, { mode, size, modifiedAt, number }: StatFields): void {
    this.bytes(pointer, 96).fill(0)
    this.setNumbers([pointer, pointer + 4, pointer + 8, pointer + 32], [1, mode, 1, 64 * 1024])
    this.setLong(pointer + 24, BigInt(size))
    this.setNumber(pointer + 36, Math.ceil(size / 512))
    for (const at of [40, 56, 72]) {
      this.setLong(pointer + at, BigInt(Math.floor(modifiedAt / 1_000)))
      this.setNumber(pointer + at + 8, Math.floor((((modifiedAt % 1_000) + 1_000) % 1_000) * 1e6))
    }
    this.setLong(pointer + 88, number)
  }

  setEntry(pointer: number, { number, next, needed, type, bytes }: EntryFields): void {
    this.setLong(pointer, number)
    this.setLong(pointer + 8, BigInt(next))
    const rest = this.bytes(pointer + 16, needed - 16).fill(0)
    rest.set([needed & 0xff, needed >> 8, type])
    rest.set(bytes, 3)
  }

  /** Marks a descriptor of `poll` as ready for each event that it asks for. */
  setReady(pointer: number): void {
    const view = this.#view
    view.setInt16(pointer + 6, view.getInt16(pointer + 4, true) & 5, true)
  }

  date(pointer: number): Date {
    const [second, minute, hour, day, month, year] = [0, 4, 8, 12, 16, 20].map((at) => this.number(pointer + at))
    const date = new Date(0)
    date.setUTCFullYear((year ?? 0) + 1900, month, day)
    date.setUTCHours(hour ?? 0, minute, second)
    return date
  }

  /** Sets a `struct tm` in UTC. */
  setDate(pointer: number, date: Date): Date {
    const year = date.getUTCFullYear()
    const start = new Date(date)
    start.setUTCMonth(0, 1)
    const day = Math.round((date.getTime() - start.getTime()) / 86_400_000)
    const clock = [date.getUTCSeconds(), date.getUTCMinutes(), date.getUTCHours(), date.getUTCDate()]
    const fields = [...clock, date.getUTCMonth(), year - 1900, date.getUTCDay(), day, 0, 0]
    fields.forEach((value, index) => this.setNumber(pointer + 4 * index, value))
    return date
  }

  invoke(handler: number, signal: number): void {
    const call: unknown = this.#bound.__indirect_function_table.get(handler)
    if (typeof call === 'function') Reflect.apply(call, undefined, [signal])
  }
}
