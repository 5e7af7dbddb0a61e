/** Until when an operation goes on, with all its requests. Progress begins it anew. */
export class Deadline {
  readonly #time: number
  #end: number

  /** @param time milliseconds */
  constructor(time: number) {
    this.#time = time
    this.#end = performance.now() + time
  }

  /** Milliseconds; 0 or less when it is over. */
  get left(): number {
    return this.#end - performance.now()
  }

  /** Something has come or gone. */
  extend(): void {
    this.#end = performance.now() + this.#time
  }
}
