import type { MessageLimits } from '../types.ts'

const mebibyte = 1024 * 1024

export function limitsOf(given: MessageLimits): { readonly [Name in keyof MessageLimits]-?: number } {
  const {
    maxCalls = 16,
    maxStreams = 64,
    maxBodyBytes = 64 * mebibyte,
    maxMessageBytes = 4 * mebibyte,
    unreadTimeout = 60_000,
  } = given
  return { maxCalls, maxStreams, maxBodyBytes, maxMessageBytes, unreadTimeout }
}

/** Counts uses that have not ended. A subject that already uses a part gets more only if as much stays free for other subjects. */
export class Limit {
  readonly most: number
  readonly #isShared: boolean
  readonly #held = new Map<string, number>()
  #used = 0

  /** @param options `shared` divides the limit among subjects; otherwise one subject may use the whole limit */
  constructor(most: number, { shared }: { readonly shared: boolean }) {
    this.most = most
    this.#isShared = shared
  }

  /** Returns a function that releases the amount; `undefined` beyond the limit. */
  take(subject: string, amount: number): (() => void) | undefined {
    const held = this.#held.get(subject) ?? 0
    const left = this.most - this.#used - amount
    if (left < 0 || (this.#isShared && held > 0 && held + amount > left)) return undefined // @defence ` || (…left)` a client that sends: leaves a share for others
    this.#add(subject, amount)
    let taken = true
    return () => {
      if (taken) this.#add(subject, -amount)
      taken = false
    }
  }

  #add(subject: string, amount: number): void {
    const held = (this.#held.get(subject) ?? 0) + amount
    this.#used += amount
    if (held === 0) this.#held.delete(subject)
    else this.#held.set(subject, held)
  }
}
