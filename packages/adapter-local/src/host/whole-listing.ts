import type { Dirent } from 'node:fs'

import type { OpenListing } from './calls.ts'

/** The entries of a directory that were read in one go. */
export class WholeListing implements OpenListing {
  readonly #entries: readonly Dirent[]
  #next = 0

  constructor(entries: readonly Dirent[]) {
    this.#entries = entries
  }

  readSync(): Dirent | null {
    const entry = this.#entries[this.#next] ?? null
    this.#next += 1
    return entry
  }

  read(): Promise<Dirent | null> {
    return Promise.resolve(this.readSync())
  }

  closeSync(): void {
    // nothing is open
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}
