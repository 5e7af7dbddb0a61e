/** Milliseconds for which a value outlives its last user, because the next user often comes soon. */
const lingerTime = 2_000

/** A value that all users in a process share, made for the first, such as a helper process. */
export class Shared<Value extends { close(): void }> {
  readonly #make: () => Value
  #value: Value | undefined
  #users = 0
  #leaving: NodeJS.Timeout | undefined

  constructor(make: () => Value) {
    this.#make = make
  }

  /** Returns the shared value and a `release` function. Each user calls `release` once when finished. */
  use(): { readonly value: Value; readonly release: () => void } {
    clearTimeout(this.#leaving)
    const value = (this.#value ??= this.#make())
    this.#users++
    let released = false
    const release = () => {
      if (released) return
      released = true
      if (--this.#users === 0) this.#leaving = setTimeout(() => this.#close(), lingerTime).unref()
    }
    return { value, release }
  }

  #close(): void {
    this.#value?.close()
    this.#value = undefined
  }
}
