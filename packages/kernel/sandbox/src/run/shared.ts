/** Milliseconds that something is kept after its last user has gone: the next one often comes soon. */
const lingerTime = 2_000

/** A value that a process needs at most once, such as a helper process. It is made for its first user and shared by all. */
export class Shared<Value extends { close(): void }> {
  readonly #make: () => Value
  #value: Value | undefined
  #users = 0
  #leaving: NodeJS.Timeout | undefined

  constructor(make: () => Value) {
    this.#make = make
  }

  /** @returns the shared value, and the function that a user calls once when it needs that no more */
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
