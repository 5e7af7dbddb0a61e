/** Milliseconds after a replacement within which a reader may just have missed the file. */
const afterwardsMs = 100

/** Paths that this adapter is writing, or has just written. */
export class Replacing {
  readonly #running = new Map<string, number>()
  readonly #ended = new Map<string, number>()

  /** Returns a function that reports the end of the write. */
  begin(path: string): () => void {
    this.#running.set(path, (this.#running.get(path) ?? 0) + 1)
    return () => {
      const left = (this.#running.get(path) ?? 1) - 1
      if (left === 0) this.#running.delete(path)
      else this.#running.set(path, left)
      this.#note(path)
    }
  }

  has(path: string): boolean {
    if (this.#running.has(path)) return true
    const ended = this.#ended.get(path)
    return ended !== undefined && performance.now() - ended < afterwardsMs
  }

  #note(path: string): void {
    const now = performance.now()
    this.#ended.delete(path) // the latest path comes last
    this.#ended.set(path, now)
    for (const [old, ended] of this.#ended) {
      if (now - ended < afterwardsMs) return
      this.#ended.delete(old)
    }
  }
}
