import type { Version } from '@ws/core'

/** States that are remembered. */
const capacity = 2_000

/**
 * Which writes made the states that this adapter has seen. A conditional write names them with its own, so that a writer
 * whose answer was lost finds its id in what came after, and does not take its own success for a lost race.
 */
export class WriteHistory {
  readonly #states = new Map<string, readonly string[]>()

  note(key: string, version: Version, writes: readonly string[]): void {
    const state = stateOf(key, version)
    this.#states.delete(state)
    if (writes.length === 0) return
    this.#states.set(state, writes)
    if (this.#states.size <= capacity) return
    const [oldest] = this.#states.keys()
    if (oldest !== undefined) this.#states.delete(oldest)
  }

  before(key: string, version: Version): readonly string[] {
    return this.#states.get(stateOf(key, version)) ?? []
  }
}

function stateOf(key: string, version: Version): string {
  return `${version} ${key}`
}
