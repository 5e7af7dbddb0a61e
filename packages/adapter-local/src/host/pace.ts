import { setImmediate as immediate } from 'node:timers/promises'

/** Milliseconds of synchronous work after which the event loop gets its turn. */
const sliceMs = 0.7
/**
 * A synchronous call that took so long (ms) says that the disk is busy: work goes to the pool for a while. On a busy
 * processor a call that only waits for its next slice of time takes up to about 10 ms.
 */
const slowCallMs = 15
/** Milliseconds on the pool after a slow call; twice as long each time that the first calls afterwards are slow again. */
const firstPauseMs = 100
const longestPauseMs = 5_000

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
    const isSoonAgain = now - this.#slowUntil < this.#pauseMs
    this.#pauseMs = isSoonAgain ? Math.min(this.#pauseMs * 2, longestPauseMs) : firstPauseMs
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

  /** `undefined`: one is in. */
  enter(): Promise<void> | undefined {
    if (this.#free === 0) return new Promise((resolve) => this.#waiting.push(resolve))
    this.#free -= 1
    return undefined
  }

  leave(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free += 1
    else next()
  }
}

/** Of the whole process, as libuv's pool of four threads is. */
export const slowMountGate = new Gate(2)
