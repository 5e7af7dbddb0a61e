interface Closable {
  close(): Promise<void>
}

/** Everything that a runner opened, closed in reverse order. The oldest supported Node has no `AsyncDisposableStack`. */
export class Opened {
  readonly #all: Closable[] = []

  keep<One extends Closable>(one: One): One {
    this.#all.push(one)
    return one
  }

  /** Closes everything, even after a failure. Repeated calls do nothing. @throws the first failure */
  async close(): Promise<void> {
    const failures: unknown[] = []
    for (let one = this.#all.pop(); one !== undefined; one = this.#all.pop()) {
      await one.close().catch((error: unknown) => failures.push(error))
    }
    if (failures.length > 0) throw failures[0]
  }
}
