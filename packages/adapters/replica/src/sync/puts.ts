import { errorOf, type Turnstile } from '@ws/tree'

import type { Disk } from '../disk.ts'
import type { Outcome, Put } from '../worker/protocol.ts'

/** Limit of bytes that are sent to the thread at once. */
const mostBytes = 8 * 1024 * 1024

interface Waiting extends PromiseWithResolvers<Outcome> {
  readonly put: Put
}

/** Writes entries to the disk. Entries that arrive during a write are sent to the thread together. */
export class Puts {
  readonly #disk: Disk
  readonly #turnstile: Turnstile
  #waiting: Waiting[] = []
  #isRunning = false

  constructor(disk: Disk, turnstile: Turnstile) {
    this.#disk = disk
    this.#turnstile = turnstile
  }

  /** Resolves when the entry is written or was left unchanged. */
  async put(put: Put): Promise<Outcome> {
    const waiting = { put, ...Promise.withResolvers<Outcome>() }
    this.#waiting.push(waiting)
    if (!this.#isRunning) void this.#run()
    return waiting.promise
  }

  /** Never rejects: each caller receives its own failure. */
  async #run(): Promise<void> {
    this.#isRunning = true
    while (this.#waiting.length > 0) await this.#turnstile.alone(() => this.#some(this.#take()))
    this.#isRunning = false
  }

  #take(): Waiting[] {
    let bytes = 0
    const end = this.#waiting.findIndex(({ put: { source } }) => {
      bytes += source instanceof Uint8Array ? source.length : 0
      return bytes > mostBytes
    })
    return this.#waiting.splice(0, end === -1 ? this.#waiting.length : Math.max(1, end))
  }

  async #some(some: readonly Waiting[]): Promise<void> {
    try {
      const outcomes = await this.#disk.ask(
        'put',
        some.map(({ put }) => put),
      )
      for (const [index, outcome] of outcomes.entries()) {
        if ('failed' in outcome) some[index]?.reject(errorOf('flush', outcome.failed))
        else some[index]?.resolve(outcome)
      }
    } catch (error) {
      for (const { reject } of some) reject(error)
    }
  }
}
