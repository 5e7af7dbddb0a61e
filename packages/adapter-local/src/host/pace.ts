import { setImmediate as immediate } from 'node:timers/promises'

/** Milliseconds of synchronous work after which the event loop gets its turn. */
const sliceMs = 0.7
/** A synchronous call that took so long (ms) says that the disk is busy: work goes to the pool for a while. */
const slowCallMs = 5
const firstPauseMs = 250
const longestPauseMs = 10_000

let spentInSlice = 0
let turn: Promise<void> | undefined

/**
 * Waits until the event loop may be held again. Everything in this process shares one budget, since it is one loop: a
 * thousand reads at once, each of 10 µs, would hold it for 10 ms.
 */
export function ownTurn(): Promise<void> | undefined {
  return spentInSlice < sliceMs ? undefined : waitForTurn()
}

async function waitForTurn(): Promise<void> {
  do {
    turn ??= nextTurn()
    await turn
  } while (spentInSlice >= sliceMs)
}

async function nextTurn(): Promise<void> {
  await immediate()
  spentInSlice = 0
  turn = undefined
}

/** Adds to what was spent of this turn of the event loop. */
export function spend(ms: number): void {
  spentInSlice += ms
}

/** What synchronous calls have cost lately on one disk. */
export class Pace {
  #slowUntil = 0
  #pauseMs = firstPauseMs

  spent(ms: number): void {
    spentInSlice += ms
    if (ms < slowCallMs) return
    const now = performance.now()
    // A slow call soon after a pause: the disk is still busy. After a quiet time it starts anew.
    this.#pauseMs = now - this.#slowUntil < longestPauseMs ? Math.min(this.#pauseMs * 2, longestPauseMs) : firstPauseMs
    this.#slowUntil = now + this.#pauseMs
  }

  /** A call was slow a short time ago. */
  get isSlow(): boolean {
    return this.#slowUntil !== 0 && performance.now() < this.#slowUntil
  }
}

/** Lets a number of callers in at once; the others wait in line. */
export class Gate {
  readonly #waiting: (() => void)[] = []
  #free: number

  constructor(size: number) {
    this.#free = size
  }

  async enter(): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1
      return
    }
    await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  leave(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free += 1
    else next()
  }
}

/** Of the whole process, as libuv's pool of four threads is. */
export const slowMountGate = new Gate(2)
