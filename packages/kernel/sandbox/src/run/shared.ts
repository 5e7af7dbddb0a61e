/** Milliseconds that a value remains after its last user, because a new user often follows soon. */
const lingerTime = 2_000

/** A value that all users in this process share, such as a helper process. Created for the first user. */
export class Shared<Value extends { close(): void; isLost?(): boolean }> {
  readonly #make: () => Value
  #value: Value | undefined
  #users = 0
  #leaving: NodeJS.Timeout | undefined

  constructor(make: () => Value) {
    this.#make = make
  }

  /** Returns the shared value, a new one for a lost one, and a `release` function. Each user calls `release` once at the end. */
  use(): { readonly value: Value; readonly release: () => void } {
    clearTimeout(this.#leaving)
    if (this.#value?.isLost?.() === true) this.#close()
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
