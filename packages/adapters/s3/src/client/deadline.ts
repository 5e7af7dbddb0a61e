export class Deadline {
  readonly #time: number
  #end: number

  /** @param time milliseconds */
  constructor(time: number) {
    this.#time = time
    this.#end = performance.now() + time
  }

  get left(): number {
    return this.#end - performance.now()
  }

  extend(): void {
    this.#end = performance.now() + this.#time
  }
}
