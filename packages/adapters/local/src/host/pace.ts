import { openSync, readSync } from 'node:fs'

import { concurrency, signals } from '@ws/core/adapter'

const buffer = Buffer.alloc(128)
let fd: number | undefined

/** Milliseconds that this thread has waited for a processor (second field of `schedstat`); 0 if unknown. */
function runDelay(): number {
  try {
    fd ??= openSync('/proc/thread-self/schedstat', 'r') // stays open, because this file belongs to the thread
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
/** A synchronous call that takes this many milliseconds means a busy disk. Work then goes to the pool. */
const slowCallMs = 15
/** Milliseconds on the pool after a slow call. The time doubles if the calls after it are slow again. */
const firstPauseMs = 100
const longestPauseMs = 5_000

let spentInSlice = 0
/** Waiters for a turn, first come first served. */
const line: (() => void)[] = []
let turnBegan = 0
let isTurnDue = false

/** True when the event loop was blocked long enough: further work waits for {@link ownTurn}. */
export function isTurnOver(): boolean {
  return spentInSlice >= sliceMs
}

export function isUrgent(signal: AbortSignal | undefined): boolean {
  return signal !== undefined && signals.urgent.has(signal)
}

/** `undefined` if work may continue now, otherwise a later turn. The whole process shares one budget. */
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

/** Lets the next waiter run. If all waiters ran together, most would have to wait again. */
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

/** Milliseconds of synchronous work between two readings of the processor wait. */
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

  /** Milliseconds of processor wait since the last reading. */
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

/** One semaphore for the process, because libuv has one pool of four threads. */
export const slowMountSemaphore = new concurrency.Semaphore(2)
