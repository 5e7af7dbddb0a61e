import type { Owner } from '@ws/core/adapter'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'

import { createWhole, removeTree } from './runtime-directory.ts'
import { createOwnedDirectory } from './system.ts'

/** The files of one command alone, which go with it. */
export interface RunDirectory {
  readonly path: string
  /** A directory in it, the owner's: the command's `/dev/shm`. */
  readonly shm: string
}

/**
 * A fresh directory for each command. The next one is made while a command runs, and a used one is removed after the
 * command's result is given: no caller waits for either.
 */
export class RunDirectories {
  readonly #parent: string
  readonly #owner: Owner
  #spare: RunDirectory | undefined
  #count = 0
  #closed = false

  /** @param parent a private directory; its owner removes it when all commands have ended */
  constructor(parent: string, owner: Owner) {
    this.#parent = parent
    this.#owner = owner
  }

  take(): RunDirectory {
    const taken = this.#spare ?? this.#create()
    this.#spare = undefined
    setImmediate(() => {
      try {
        if (!this.#closed) this.#spare ??= this.#create()
      } catch {
        // The next command makes its own, and reports why it cannot.
      }
    })
    return taken
  }

  drop({ path }: RunDirectory): void {
    setImmediate(() => {
      if (!this.#closed) removeTree(path)
    })
  }

  /** From now on nothing is made or removed here. */
  close(): void {
    this.#closed = true
  }

  #create(): RunDirectory {
    const path = join(this.#parent, `run-${this.#count++}`)
    return createWhole(path, () => {
      chmodSync(path, 0o711)
      return { path, shm: createOwnedDirectory(join(path, 'shm'), this.#owner) }
    })
  }
}
