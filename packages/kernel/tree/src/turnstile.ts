/** Runs changes in parallel with each other, and each exclusive task without any other task. */
export class Turnstile {
  #alone: Promise<unknown> = Promise.resolve()
  #passing = 0
  #onIdle: (() => void)[] = []

  async pass<Result>(before: () => Promise<void> | void, run: () => Promise<Result>): Promise<Result> {
    for (let seen: unknown; seen !== this.#alone; ) {
      seen = this.#alone
      await seen
    }
    this.#passing += 1
    try {
      await before()
      return await run()
    } finally {
      this.#passing -= 1
      if (this.#passing === 0) for (const idle of this.#onIdle.splice(0)) idle()
    }
  }

  alone<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = this.#alone.then(async () => {
      if (this.#passing > 0) await new Promise<void>((idle) => this.#onIdle.push(idle))
      return work()
    })
    this.#alone = turn.catch(() => undefined) // later tasks only wait for the end of this one; its caller gets the error
    return turn
  }
}
