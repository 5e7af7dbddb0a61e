import { openSync, readSync } from 'node:fs'

import { Semaphore, urgentSignals } from '@ws/core/adapter'

const buffer = Buffer.alloc(128)
let fd: number | undefined

/** Milliseconds that this thread has waited for a processor (the second field of `schedstat`); 0 where it is unknown. */
function runDelay(): number {
  try {
    fd ??= openSync('/proc/thread-self/schedstat', 'r') // kept: it belongs to the thread
    const length = readSync(fd, buffer, 0, buffer.length, 0)
    const [, delay] = buffer.toString('latin1', 0, length).split(' ')
    return Number(delay) / 1e6 || 0
  } catch {
    fd = -1
    return 0
  }
}

/** Milliseconds of synchronous work after which the event loop gets its turn. */
const sliceMs = 0.7
/** A synchronous call that took so long (ms) says that the disk is busy: work goes to the pool for a while. */
const slowCallMs = 15
/** Milliseconds on the pool after a slow call; twice as long each time that the first calls afterwards are slow again. */
const firstPauseMs = 100
const longestPauseMs = 5_000

let spentInSlice = 0
/** Those who wait for their turn, first come first served. */
const line: (() => void)[] = []
let turnBegan = 0
let isTurnDue = false

/** The event loop has been held for long enough: code with more to do waits for {@link ownTurn}. */
export function isTurnOver(): boolean {
  return spentInSlice >= sliceMs
}

export function isUrgent(signal: AbortSignal | undefined): boolean {
  return signal !== undefined && urgentSignals.has(signal)
}

/** `undefined` while the event loop may be held, else a later turn. All of this process shares the budget of its one loop. */
export function ownTurn(signal?: AbortSignal): Promise<void> | undefined {
  if (!isTurnOver() || isUrgent(signal)) return undefined
  if (!isTurnDue) {
    isTurnDue = true
    setImmediate(beginTurn)
  }
  return new Promise((resolve) => line.push(resolve))
}

function beginTurn(): void {
  isTurnDue = false
  spentInSlice = 0
  turnBegan = performance.now()
  letNextOneIn()
}

/** In line, each after the work that the one before did at once: let in together, most would find the turn over again. */
function letNextOneIn(): void {
  const next = line.shift()
  if (next === undefined) return
  next()
  queueMicrotask(goOn)
}

function goOn(): void {
  if (line.length === 0) return
  if (!isTurnOver() && performance.now() - turnBegan < sliceMs) {
    letNextOneIn()
  } else if (!isTurnDue) {
    isTurnDue = true
    setImmediate(beginTurn)
  }
}

export function spend(ms: number): void {
  spentInSlice += ms
}

/** Milliseconds of synchronous work after which it is noted how long the thread has waited for a processor so far. */
const noteEveryMs = 1

export class Pace {
  readonly #runDelay: () => number
  #notedDelay: number
  #sinceNote = 0
  #slowUntil = 0
  #pauseMs = firstPauseMs

  constructor(delay: () => number = runDelay) {
    this.#runDelay = delay
    this.#notedDelay = delay()
  }

  spent(ms: number): void {
    spentInSlice += ms
    this.#sinceNote += ms
    if (this.#sinceNote < noteEveryMs) return
    const waited = this.#noteDelay()
    // The call was slow because the CPU is busy, not the disk; the thread pool would not help.
    if (ms < slowCallMs || waited > ms / 2) return
    const now = performance.now()
    const isSoonAgain = now - this.#slowUntil < this.#pauseMs
    this.#pauseMs = isSoonAgain ? Math.min(this.#pauseMs * 2, longestPauseMs) : firstPauseMs
    this.#slowUntil = now + this.#pauseMs
  }

  /** Milliseconds that this thread has waited for a processor since the last note. */
  #noteDelay(): number {
    const before = this.#notedDelay
    this.#notedDelay = this.#runDelay()
    this.#sinceNote = 0
    return this.#notedDelay - before
  }

  get isSlow(): boolean {
    return this.#slowUntil !== 0 && performance.now() < this.#slowUntil
  }
}

/** One for the whole process, like libuv's pool of four threads. */
export const slowMountSemaphore = new Semaphore(2)
