import { Temporary } from '@ws/sandbox'
import type { Owner } from '@ws/core/adapter'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'

import { createWhole } from './runtime-directory.ts'
import { createOwnedDirectory } from './system.ts'

/** The directory of one command, removed after its end. */
export interface RunDirectory {
  readonly path: string
  readonly shm: string
}

/** Creates the next directory while a command runs, and removes a used directory after the command's result. No caller waits for this. */
export class RunDirectories {
  readonly #parent: string
  readonly #owner: Owner
  #spare: RunDirectory | undefined
  #count = 0
  #closed = false

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
        // After a failure, the next command creates its own directory, or reports the error.
      }
    })
    return taken
  }

  drop({ path }: RunDirectory): void {
    setImmediate(() => {
      if (!this.#closed) Temporary.removeRuntimeDirectory(path)
    })
  }

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
