import type { DirectoryEntry, OpenListing } from './calls.ts'

/** The entries of a directory that were read in one go. */
export class WholeListing implements OpenListing {
  readonly #entries: readonly DirectoryEntry[]
  #next = 0

  constructor(entries: readonly DirectoryEntry[]) {
    this.#entries = entries
  }

  readSync(): DirectoryEntry | null {
    const entry = this.#entries[this.#next] ?? null
    this.#next += 1
    return entry
  }

  read(): Promise<DirectoryEntry | null> {
    return Promise.resolve(this.readSync())
  }

  closeSync(): void {
    // nothing is open
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}
