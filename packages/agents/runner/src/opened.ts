interface Closable {
  close(): Promise<void>
}

/** All that a runner opened, to be closed the last first. The lowest Node has no `AsyncDisposableStack`. */
export class Opened {
  readonly #all: Closable[] = []

  keep<One extends Closable>(one: One): One {
    this.#all.push(one)
    return one
  }

  /** Closes everything, also where one fails; twice is fine. @throws the first failure */
  async close(): Promise<void> {
    const failures: unknown[] = []
    for (let one = this.#all.pop(); one !== undefined; one = this.#all.pop()) {
      await one.close().catch((error: unknown) => failures.push(error))
    }
    if (failures.length > 0) throw failures[0]
  }
}
