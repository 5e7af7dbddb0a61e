import type { Owner } from '@ws/core/adapter'
import type { Reserve } from '@ws/sandbox'

import { isStill } from './sources.ts'

/** Milliseconds after the last command until names are released. */
const idle = 60_000

interface Kept {
  readonly reservation: Reserve.Reservation
  readonly timer: NodeJS.Timeout
}

export class KeptNames {
  readonly #kept = new Map<string, Kept>()

  /** Releases names that were removed or replaced. Call `check` before a command reserves names. */
  async check(): Promise<void> {
    for (const [key, { reservation }] of this.#kept) {
      const { identities } = reservation
      const isThere = [...identities.keys()].every((path) => isStill(path, identities))
      if (!isThere) await this.#drop(key) // @defence is not the one that was reserved: has removed one
    }
  }

  /** Keeps a command's reserved names until a minute after the last command that uses them. */
  async keep(names: readonly Reserve.WantedName[], owner: Owner, keeper: Reserve.NameKeeper): Promise<void> {
    const key = names.map(({ name }) => `${name.root}\0${name.path}`).join('\0\0')
    const known = this.#kept.get(key)
    if (known !== undefined) return void known.timer.refresh()
    const reservation = await keeper.reserve(names, owner)
    if (this.#kept.has(key)) return await reservation.release()
    // after a failed removal, the next process that reserves a name removes the leftovers
    const timer = setTimeout(() => void this.#drop(key).catch(() => undefined), idle).unref()
    this.#kept.set(key, { reservation, timer })
  }

  async close(): Promise<void> {
    await Promise.all([...this.#kept.keys()].map((key) => this.#drop(key)))
  }

  async #drop(key: string): Promise<void> {
    const known = this.#kept.get(key)
    if (known === undefined) return
    clearTimeout(known.timer)
    this.#kept.delete(key)
    await known.reservation.release()
  }
}
