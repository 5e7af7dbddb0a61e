import { isSettled } from '@ws/core/inner'

import type { DirectoryEntry, Status } from '../host/calls.ts'

type Entries = readonly DirectoryEntry[]
type Times = Pick<Status, 'ino' | 'ctimeNs'>

/** The entries of a directory, and the time of its last change. */
interface Known {
  readonly entries: Entries
  readonly ctimeNs: bigint
  usedAt: number
}

/** Limit of remembered entries, about 100 bytes each. A directory counts as two entries. */
export const mostEntries = 65_536
/** Milliseconds for which a used entry is kept, even if a walk reads more entries than fit. */
const keptMs = 60_000
/** Allowed clock drift, in milliseconds. */
const clockToleranceMs = 10

/** Remembers names and types in directories whose times are exact. Each use compares the directory's inode and ctime. */
export class KnownEntries {
  readonly #known = new Map<string, Known>()
  readonly #now: () => number
  readonly #monotonic: () => number
  #size = 0
  #clockOffset = 0
  #clocks = 0

  /** `now`: the clock of files. `monotonic`: a clock that no program sets. Both in ms. */
  constructor(now: () => number = Date.now, monotonic: () => number = () => performance.now()) {
    this.#now = now
    this.#monotonic = monotonic
  }

  /** The entries of a directory. `tree`: the id of an open tree, which keeps inodes from being reused. `status`: read just now. */
  of(tree: number, status: Times, list: () => Entries): Entries {
    const known = this.recall(tree, status)
    if (known !== undefined) return known
    const keep = this.recorder(tree, status)
    const entries = list()
    keep?.(entries)
    return entries
  }

  recall(tree: number, { ino, ctimeNs }: Times): Entries | undefined {
    const now = this.#now()
    this.#watchClock(now)
    const key = `${tree}:${ino}`
    const known = this.#known.get(key)
    if (known === undefined) return undefined
    if (known.ctimeNs !== ctimeNs) {
      this.#forget(key, known)
      return undefined
    }
    this.#use(key, known, now)
    return known.entries
  }

  /** Returns a function that remembers the entries of a directory read from now on. `undefined` if a change could go unnoticed. */
  recorder(tree: number, { ino, ctimeNs }: Times): ((entries: Entries) => void) | undefined {
    const now = this.#now()
    this.#watchClock(now)
    const clocks = this.#clocks
    if (!isSettled(Number(ctimeNs / 1_000_000n), now)) return undefined
    return (entries) => {
      if (clocks === this.#clocks) this.#remember(`${tree}:${ino}`, { entries, ctimeNs, usedAt: now })
    }
  }

  /** A text that changes with a directory's entries; `undefined` if unknown. `status`: read just now. */
  stampOf(tree: number, { dev, ino, ctimeNs }: Pick<Status, 'dev' | 'ino' | 'ctimeNs'>): string | undefined {
    const now = this.#now()
    this.#watchClock(now)
    return isSettled(Number(ctimeNs / 1_000_000n), now) ? `${tree} ${this.#clocks} ${dev} ${ino} ${ctimeNs}` : undefined
  }

  #use(key: string, known: Known, now: number): void {
    if (now - known.usedAt < keptMs / 4) return
    known.usedAt = now
    // Moved to the end, because the map is in the order of last use.
    this.#known.delete(key)
    this.#known.set(key, known)
  }

  #remember(key: string, known: Known): void {
    const before = this.#known.get(key)
    if (before !== undefined) this.#forget(key, before)
    const size = sizeOf(known)
    if (size > mostEntries) return
    for (const [oldKey, old] of this.#known) {
      if (this.#size + size <= mostEntries) break
      if (known.usedAt - old.usedAt < keptMs) return
      this.#forget(oldKey, old)
    }
    this.#known.set(key, known)
    this.#size += size
  }

  #forget(key: string, known: Known): void {
    this.#known.delete(key)
    this.#size -= sizeOf(known)
  }

  /** Notices a clock that was set: a later change may then get an earlier time. */
  #watchClock(now: number): void {
    let offset = now - this.#monotonic()
    // The thread may have waited for a processor between the two clocks.
    if (!this.#isUsual(offset)) offset = this.#now() - this.#monotonic()
    if (this.#isUsual(offset)) return
    this.#clockOffset = offset
    this.#clocks += 1
    this.#known.clear()
    this.#size = 0
  }

  #isUsual(offset: number): boolean {
    return Math.abs(offset - this.#clockOffset) <= clockToleranceMs
  }
}

function sizeOf({ entries }: Known): number {
  return entries.length + 2
}

export const knownEntries = new KnownEntries()
