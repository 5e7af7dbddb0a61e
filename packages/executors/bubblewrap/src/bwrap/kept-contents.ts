import { closeSync, constants, openSync } from 'node:fs'

import { Descriptors } from '@ws/sandbox'

/**
 * Content that is written once, for several children. A child must not pass its descriptor on:
 * an ordinary user with this descriptor can open the file again, and change the content for later children.
 */
export class KeptContents implements Disposable {
  readonly #files = new Map<Uint8Array, number>()
  #closed = false

  /** @param content must not change; the object itself is the key */
  keep(content: Uint8Array): { reopen(): number } {
    return {
      reopen: () => {
        if (this.#closed) return Descriptors.openContent(content)
        const file = this.#files.get(content) ?? Descriptors.openPrivateFile(content)
        this.#files.set(content, file)
        return openSync(`/proc/self/fd/${file}`, constants.O_RDONLY)
      },
    }
  }

  close(): void {
    this.#closed = true
    for (const file of this.#files.values()) closeSync(file)
    this.#files.clear()
  }

  [Symbol.dispose](): void {
    this.close()
  }
}
