import type { AccessEvent } from './types.ts'

type Listener = (event: AccessEvent) => void

/** Tells listeners of every operation. Costs nothing while nobody listens. */
export class Audit {
  readonly #listeners = new Set<Listener>()

  get active(): boolean {
    return this.#listeners.size > 0
  }

  on(listener: Listener): () => void {
    // One more function, so that one listener subscribed twice is told twice and leaves once.
    const own: Listener = (event) => listener(event)
    this.#listeners.add(own)
    return () => {
      this.#listeners.delete(own)
    }
  }

  record(event: AccessEvent): void {
    for (const listener of this.#listeners) {
      try {
        listener(event)
      } catch {
        // An audit that fails must not change what the caller sees.
      }
    }
  }
}
