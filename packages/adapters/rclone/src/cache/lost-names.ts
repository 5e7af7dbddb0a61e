import { join } from 'node:path'

import { appendEnd, appendLines, readLines } from './lines.ts'

interface LostName {
  readonly name: string
  /** True: the store has a surplus object. False: the store lacks the file, or has an earlier content. */
  readonly isExtra: boolean
}

/** Names at which the store may differ from the files that programs see. The list is on the disk, so the next mount also refuses them. */
export class LostNames {
  readonly #file: string
  #all: readonly LostName[]

  /** `cache`: host path of the cache. */
  constructor(cache: string) {
    this.#file = join(cache, 'lost')
    this.#all = readLines<LostName>(this.#file, ({ name }) => name)
  }

  get all(): readonly LostName[] {
    return this.#all
  }

  add(name: string, isExtra = false): void {
    if (this.#all.some((one) => one.name === name)) return
    this.#all = [...this.#all, { name, isExtra }]
    this.#write(() => appendLines(this.#file, [{ name, isExtra }]))
  }

  /** Removes a name, because a program has deleted the file or written it again. */
  delete(name: string): void {
    if (!this.#all.some((one) => one.name === name)) return
    this.#all = this.#all.filter((one) => one.name !== name)
    this.#write(() => appendEnd(this.#file, name))
  }

  #write(append: () => void): void {
    try {
      append()
    } catch {
      // a full disk: this mount knows the name in memory, and refuses it
    }
  }
}
