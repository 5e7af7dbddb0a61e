/** Counts what is in use at once, against a limit. */
export class Limit {
  readonly most: number
  #used = 0

  constructor(most: number) {
    this.most = most
  }

  /** Takes a share, and gives the function that returns it; `undefined` where too much is in use. */
  take(share: number): (() => void) | undefined {
    if (this.#used + share > this.most) return undefined
    this.#used += share
    let taken = true
    return () => {
      if (taken) this.#used -= share
      taken = false
    }
  }
}
