import type { FileMethod } from '../files/contract.ts'
import { CallError } from './errors.ts'
import type { Facts } from './facts.ts'

/** Asks the workspace's process, and waits for its answer. @throws an error with a `code` */
export type Ask = (method: FileMethod, ...parameters: readonly unknown[]) => unknown

export interface ContentOptions {
  readonly ask: Ask
  readonly maxFileBytes: number
  /** Accounts for memory. @throws CallError `ENOMEM` */
  readonly charge: (bytes: number) => void
}

/** Milliseconds after which a change is written, although the file stays open. */
const writeAfter = 1_000
/** Separate places of a file that are held before they are written. */
const mostWritten = 1_000
const mebibyte = 1024 * 1024

/** The content of an open file. All descriptors of the file share one. Changes are written when the file is closed, or before. */
export class Content {
  /** Absent for a file that the program has removed. */
  path: string | undefined
  readonly facts: Facts
  size: number
  users = 0
  readonly #options: ContentOptions
  /** Holds the bytes from `#base` on: a file that is only appended to is not read. */
  #bytes: Uint8Array = new Uint8Array()
  #base: number
  /** Number of first bytes that the workspace has already. */
  #saved: number
  #isRewritten = false
  /** Where the program has written since the last save, in order. */
  #written: (readonly [from: number, to: number])[] = []
  /** The smallest size since the last save. */
  #cut = Infinity
  #changedAt = Infinity
  /** The error of a write that no call on this file was told of. */
  #failure: Error | undefined

  /** @param bytes the content, if known */
  constructor(options: ContentOptions, facts: Facts, path: string | undefined, bytes?: Uint8Array) {
    this.#options = options
    this.facts = facts
    this.path = path
    options.charge(bytes?.length ?? 0)
    this.#base = bytes === undefined ? facts.size : 0
    this.#bytes = bytes ?? this.#bytes
    this.size = this.#saved = bytes?.length ?? facts.size
  }

  /** The workspace's file is empty now. */
  empty(): void {
    this.#options.charge(-this.#bytes.length)
    this.#bytes = new Uint8Array()
    this.#base = this.size = this.#saved = 0
    this.#isRewritten = false
  }

  load(): void {
    if (this.path === undefined) return
    this.save()
    const bytes = this.#options.ask('readFileBuffer', this.path) as Uint8Array
    this.#options.charge(bytes.length - this.#bytes.length)
    this.#bytes = bytes
    this.#base = 0
    this.size = this.#saved = bytes.length
  }

  read(into: Uint8Array, position: number): number {
    const part = this.#bytes.subarray(position, Math.min(this.size, position + into.length))
    into.set(part)
    return part.length
  }

  write(bytes: Uint8Array, position: number): void {
    const end = position + bytes.length
    if (end > this.#options.maxFileBytes) throw new CallError('EFBIG')
    if (position < this.#saved && this.#base > 0) this.load()
    this.#grow(end - this.#base)
    this.#bytes.set(bytes, position - this.#base)
    if (position < this.#saved) this.#isRewritten = true
    this.#note(position, end)
    this.size = Math.max(this.size, end)
    if (this.#changedAt === Infinity) this.#changedAt = Date.now()
    if (Date.now() - this.#changedAt > writeAfter || this.#written.length > mostWritten) this.save()
  }

  truncate(size: number): void {
    if (size > this.#options.maxFileBytes) throw new CallError('EFBIG')
    if (size > this.size) return this.write(new Uint8Array(size - this.size), this.size)
    if (size === this.size) return
    if (this.#base > 0) this.load()
    this.#bytes.fill(0, size)
    this.size = size
    this.#cut = Math.min(this.#cut, size)
    this.#written = this.#written.map(([from, to]) => [Math.min(from, size), Math.min(to, size)])
    this.#isRewritten = true
    this.#changedAt = Math.min(this.#changedAt, Date.now())
  }

  #note(from: number, to: number): void {
    const [start, end] = this.#written.at(-1) ?? []
    if (start !== undefined && end === from) this.#written[this.#written.length - 1] = [start, to]
    else this.#written.push([from, to])
  }

  #grow(needed: number): void {
    if (needed <= this.#bytes.length) return
    const capacity = Math.max(needed, Math.min(this.#bytes.length * 2, needed + 8 * mebibyte))
    this.#options.charge(capacity - this.#bytes.length)
    const bytes = new Uint8Array(capacity)
    bytes.set(this.#bytes)
    this.#bytes = bytes
  }

  /** Writes the changes before a call on another path. The next call that saves this file is told of a failure. */
  saveAside(): void {
    try {
      this.save()
    } catch (error) {
      this.#failure = error as Error
    }
  }

  save(): void {
    const failure = this.#failure
    this.#failure = undefined
    if (failure !== undefined && this.path !== undefined) throw failure
    if (this.#changedAt === Infinity) return
    const [saved, isRewritten, written, cut] = [this.#saved, this.#isRewritten, this.#written, this.#cut]
    this.#saved = this.size
    this.#isRewritten = false
    this.#written = []
    this.#cut = Infinity
    this.#changedAt = Infinity
    if (this.path === undefined) return
    if (isRewritten) this.#rewrite(this.path, written, cut)
    else if (this.size > saved) {
      this.#options.ask('lstat', this.path) // an append would make the file anew after another program has moved or removed it
      this.#options.ask('appendFile', this.path, this.#bytes.slice(saved - this.#base, this.size - this.#base))
    }
  }

  /** Puts the program's own changes into the bytes that the file has now: another program may have changed other bytes. */
  #rewrite(path: string, written: readonly (readonly [from: number, to: number])[], cut: number): void {
    const now = (this.#options.ask('readFileBuffer', path) as Uint8Array).subarray(0, cut)
    const size = written.reduce((most, [, to]) => Math.max(most, to), now.length)
    this.#options.charge(size - this.#bytes.length)
    const bytes = new Uint8Array(size)
    bytes.set(now)
    for (const [from, to] of written) bytes.set(this.#bytes.subarray(from, to), from)
    this.#bytes = bytes
    this.size = this.#saved = size
    this.#options.ask('writeFile', path, bytes)
  }

  release(): void {
    this.#options.charge(-this.#bytes.length)
  }
}
