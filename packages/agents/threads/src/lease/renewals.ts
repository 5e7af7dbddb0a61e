import { setImmediate as nextTurn } from 'node:timers/promises'

interface Renewable {
  /** Milliseconds until the next renewal; `Infinity` during a renewal. */
  readonly dueIn: number
  /** Never rejects. */
  renew(): Promise<void>
}

/** Renewals under way at a time: enough for a slow store, and few enough for one turn of the event loop. */
const parallel = 32
const longest = 1_000

class Renewals {
  readonly #leases = new Set<Renewable>()
  readonly #line = new Set<Renewable>()
  #running = 0
  #timer: NodeJS.Timeout | undefined

  add(lease: Renewable): void {
    this.#leases.add(lease)
    clearTimeout(this.#timer)
    this.#look()
  }

  delete(lease: Renewable): void {
    this.#leases.delete(lease)
    this.#line.delete(lease)
    if (this.#leases.size === 0) clearTimeout(this.#timer)
  }

  #look(): void {
    let next = longest
    for (const lease of this.#leases) {
      if (lease.dueIn <= 0) this.#line.add(lease)
      else next = Math.min(next, lease.dueIn)
    }
    while (this.#running < Math.min(parallel, this.#line.size)) void this.#work()
    this.#timer = setTimeout(() => this.#look(), Math.max(next, 1))
    this.#timer.unref()
  }

  /** Never rejects, since no renewal rejects. */
  async #work(): Promise<void> {
    this.#running += 1
    for (const lease of this.#line) {
      this.#line.delete(lease)
      await lease.renew()
      await nextTurn()
    }
    this.#running -= 1
  }
}

export const renewals = new Renewals()
