/** Caches for a limited time whether shared trees exist: a check in a store with an API costs two requests. */
export class KnownTrees {
  readonly #maxAge: number
  readonly #known = new Map<string, { readonly until: number; readonly answer: Promise<string | undefined> }>()

  constructor(maxAge: number) {
    this.#maxAge = maxAge
  }

  ask(path: string, look: () => Promise<string | undefined>): Promise<string | undefined> {
    const now = performance.now()
    const known = this.#known.get(path)
    if (known !== undefined && now < known.until) return known.answer
    const answer = look()
    if (this.#maxAge === 0) return answer
    for (const [other, { until }] of this.#known) if (until <= now) this.#known.delete(other)
    this.#known.set(path, { until: now + this.#maxAge, answer })
    answer.catch(() => this.#known.delete(path))
    return answer
  }
}
