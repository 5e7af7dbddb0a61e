import type { S3Client } from '@aws-sdk/client-s3'
import { isWorkspaceError } from '@ws/core'
import { signals } from '@ws/core/adapter'

import { failure } from '../errors.ts'
import { Deadline } from './deadline.ts'
import { Lookout } from './lookout.ts'
import { isPage, nativeNameOf, statusOf, isExpired } from './native.ts'
import { attemptsFor, delayBefore, fewAttempts, manyAttempts, mayHaveHappened } from './retry.ts'
import { onGone } from './transport.ts'
import { sleep } from './wait.ts'

const asking = new WeakMap<S3Client, Promise<void>>()

/** Requests new credentials once if the store reports that they have expired, even before their date. Fixed credentials remain. */
async function refreshCredentials(client: S3Client, error: unknown): Promise<void> {
  if (!isExpired(error)) return
  const running =
    asking.get(client) ??
    ask(client).finally(() => {
      asking.delete(client)
    })
  asking.set(client, running)
  await running
}

async function ask(client: S3Client): Promise<void> {
  // the type lacks this option, but the SDK's wrapper of every provider accepts it
  const provider = client.config?.credentials as ((options: { forceRefresh: boolean }) => Promise<unknown>) | undefined
  await provider?.({ forceRefresh: true })
}

export interface Task {
  readonly operation: string
  readonly path: string
  readonly signal?: AbortSignal | undefined
  /** The time limit of the whole operation. If absent, each request has its own limit. */
  readonly until?: Deadline | undefined
}

export interface Fate {
  /** True if an attempt may have taken effect although its answer was lost. */
  lost: boolean
}

export interface Attempt {
  readonly client: S3Client
  /** The signal for the SDK, which the caller, the time limit or the adapter aborts. */
  readonly abortSignal: AbortSignal
  /** Reports progress, which restarts the time limit and the deadline. */
  readonly alive: () => void
}

export interface RequestLimits {
  /** Milliseconds. */
  readonly attemptTimeout: number
  /** Milliseconds. */
  readonly deadline: number
}

export interface RunOptions {
  /** Bytes sent or received. They give an attempt more time. */
  readonly bytes?: number
  /** Bytes that the store copies from one object to another. */
  readonly copied?: number
  /** Records attempts with a lost answer. */
  readonly fate?: Fate
  /** True if the request continues while the adapter closes. */
  readonly whileClosing?: boolean
}

/** Milliseconds that `close()` waits for clean-ups. */
const longestClose = 5_000

/** Sends requests with time limits, and repeats them until the deadline. Rejects with the SDK's error, or the abort's reason. */
export class Requests {
  readonly client: S3Client
  readonly #limits: RequestLimits
  readonly #lookout: Lookout
  readonly #closing = new AbortController()
  /** Work that must end before the adapter closes. */
  readonly #last = new Set<Promise<void>>()
  /** True after a first answer of the store, even an error. */
  #isKnown = false
  /** Failed clean-ups, which `close()` tries again. */
  readonly #failed = new Set<(until: Deadline) => Promise<void>>()

  constructor(client: S3Client, { bucket, ...limits }: RequestLimits & { readonly bucket: string }) {
    this.client = client
    this.#limits = limits
    this.#lookout = new Lookout(client, bucket)
  }

  get attemptTimeout(): number {
    return this.#limits.attemptTimeout
  }

  /** Aborted when the adapter is closed. */
  get closing(): AbortSignal {
    return this.#closing.signal
  }

  get closed(): boolean {
    return this.#closing.signal.aborted
  }

  /** Starts the time of one operation. */
  begin(): Deadline {
    return new Deadline(this.#limits.deadline)
  }

  /** Ends running requests, waits for clean-ups, and refuses later requests. */
  async close(): Promise<void> {
    this.#closing.abort()
    for (const work of this.#failed) this.inBackground(work)
    if (this.#last.size === 0) return
    const late = Promise.withResolvers<void>()
    let isLate = false
    const timer = setTimeout(
      () => {
        isLate = true
        late.resolve()
      },
      Math.min(longestClose, this.#limits.deadline),
    )
    while (this.#last.size > 0 && !isLate) await Promise.race([Promise.all(this.#last), late.promise])
    clearTimeout(timer)
  }

  /** Makes `close()` wait for work that ends without a signal. Returns a function that reports the end. */
  hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    const tracked = promise.finally(() => this.#last.delete(tracked))
    this.#last.add(tracked)
    return resolve
  }

  /** Runs background work, and repeats it in `close()` if it failed. The work must end without a signal. */
  inBackground(work: (until: Deadline) => Promise<void>): void {
    this.#failed.delete(work)
    const isLast = this.closed
    const failed = (): void => {
      if (this.closed && !isLast) this.inBackground(work)
      else this.#failed.add(work)
    }
    const running = work(new Deadline(Math.min(longestClose, this.#limits.deadline))).catch(failed)
    const tracked = running.finally(() => this.#last.delete(tracked))
    this.#last.add(tracked)
  }

  /** Runs `attempt` until it succeeds or further attempts are pointless. */
  async run<Result>(
    task: Task,
    attempt: (attempt: Attempt) => Promise<Result>,
    options: RunOptions = {},
  ): Promise<Result> {
    const { fate = { lost: false }, whileClosing = false } = options
    const until = task.until ?? this.begin()
    let last: unknown
    /** The number of equal failures in a row. */
    let streak = 0
    for (let count = 1; ; count += 1) {
      this.#check(task, whileClosing)
      try {
        const result = await this.once({ ...task, until }, attempt, options)
        this.#isKnown = true
        return result
      } catch (error) {
        this.#isKnown ||= statusOf(error) !== undefined && !isPage(error)
        fate.lost ||= !isWorkspaceError(error) && mayHaveHappened(error)
        this.#check(task, whileClosing)
        // an earlier failure is more informative than a timeout
        if (until.left <= 0) throw isTimeout(error) && last !== undefined ? last : error
        streak = last !== undefined && nativeNameOf(last) === nativeNameOf(error) ? streak + 1 : 1
        if (streak >= attemptsFor(error) || count >= (this.#isKnown ? manyAttempts : fewAttempts)) throw error
        last = error
        const delay = delayBefore(count, error)
        if (delay >= until.left) throw error
        await refreshCredentials(this.client, error)
        await this.#sleep(delay, task, whileClosing)
      }
    }
  }

  /** Runs one attempt within its time limit. */
  async once<Result>(
    { signal, until = this.begin() }: Task,
    attempt: (attempt: Attempt) => Promise<Result>,
    { bytes = 0, copied = 0, whileClosing = false }: RunOptions = {},
  ): Promise<Result> {
    const controller = new AbortController()
    if (signal !== undefined && signals.urgent.has(signal)) signals.urgent.add(controller.signal)
    const closing = this.#closing.signal
    const end = (): void => controller.abort(signal?.aborted === true ? signal.reason : undefined)
    const expire = (): void => controller.abort(new DOMException('the attempt took too long', 'TimeoutError'))
    // 50 bytes per millisecond is a slow but usable line; a store copies faster
    const patience = this.#limits.attemptTimeout + (bytes + copied) / 50
    const watched = this.#lookout.watch(expire, bytes / 50 + copied / 10_000)
    const first = Math.max(0, Math.min(patience, until.left))
    let timer = setTimeout(expire, first)
    const alive = (): void => {
      until.extend()
      watched.alive()
      if (first === patience) {
        timer.refresh()
        return
      }
      clearTimeout(timer)
      timer = setTimeout(expire, Math.min(patience, until.left))
    }
    signal?.addEventListener('abort', end)
    if (!whileClosing) closing.addEventListener('abort', end)
    const { client } = this
    try {
      // The signal is checked again just before sending, because the request may have waited for a slot.
      const abortSignal = signals.askingToo(controller.signal, signal)
      onGone.set(abortSignal, alive)
      const running = attempt({ client, abortSignal, alive })
      return await signals.orAbort(running, controller.signal) // the SDK does not obey its signal while it waits for a socket
    } catch (error) {
      if (isTimeout(controller.signal.reason)) throw controller.signal.reason
      throw error
    } finally {
      clearTimeout(timer)
      watched.over()
      signal?.removeEventListener('abort', end)
      closing.removeEventListener('abort', end)
    }
  }

  async #sleep(delay: number, task: Task, whileClosing: boolean): Promise<void> {
    await sleep(delay, [task.signal, ...(whileClosing ? [] : [this.#closing.signal])])
    this.#check(task, whileClosing)
  }

  #check({ operation, path, signal }: Task, whileClosing = false): void {
    if (signal?.aborted === true) throw signal.reason
    if (this.closed && !whileClosing) throw failure('ECLOSED', operation, path)
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'TimeoutError'
}
