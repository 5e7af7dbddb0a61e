import type { S3Client } from '@aws-sdk/client-s3'
import { failure } from '../errors.ts'
import { retryAfterOf } from './native.ts'
import { attemptsFor, delayBefore, mayHaveHappened } from './retry.ts'

/** For whom a request is made. */
export interface Task {
  readonly operation: string
  /** The path that errors name. */
  readonly path: string
  readonly signal?: AbortSignal | undefined
}

/** What one attempt is given. */
export interface Attempt {
  readonly client: S3Client
  /** For the SDK. Ends with the caller's signal, the time limit of the attempt, and the adapter. */
  readonly abortSignal: AbortSignal
  /** An attempt before this one may have had its effect, although its answer was lost. */
  readonly repeated: boolean
  /** Something has come: the time limit begins anew. */
  readonly alive: () => void
}

export interface RequestLimits {
  /** Milliseconds. */
  readonly attemptTimeout: number
  /** Milliseconds. */
  readonly deadline: number
}

/**
 * Sends requests: each with a time limit, again after errors that pass, until its deadline. What it rejects with are the
 * SDK's own errors, for `translate`; an abort rejects with the caller's reason.
 */
export class Requests {
  readonly client: S3Client
  readonly #limits: RequestLimits
  readonly #closing = new AbortController()

  constructor(client: S3Client, limits: RequestLimits) {
    this.client = client
    this.#limits = limits
  }

  /** Milliseconds. */
  get attemptTimeout(): number {
    return this.#limits.attemptTimeout
  }

  get closed(): boolean {
    return this.#closing.signal.aborted
  }

  /** Ends what is running; later requests are refused. */
  close(): void {
    this.#closing.abort()
  }

  /** Runs `attempt` until it succeeds or there is no point in going on. `bytes` sent or received allow an attempt more time. */
  async run<Result>(task: Task, attempt: (attempt: Attempt) => Promise<Result>, bytes = 0): Promise<Result> {
    const started = performance.now()
    let repeated = false
    for (let count = 1; ; count += 1) {
      this.#check(task)
      try {
        return await this.once(task, attempt, { repeated, bytes })
      } catch (error) {
        this.#check(task)
        const left = this.#limits.deadline - (performance.now() - started)
        if (count >= attemptsFor(error) || left <= 0) throw error
        repeated ||= mayHaveHappened(error)
        const delay = delayBefore(count, retryAfterOf(error))
        if (delay >= left) throw error
        await this.#sleep(delay, task)
      }
    }
  }

  /** One attempt, with its time limit. */
  async once<Result>(
    { signal }: Task,
    attempt: (attempt: Attempt) => Promise<Result>,
    { repeated = false, bytes = 0 } = {},
  ): Promise<Result> {
    const controller = new AbortController()
    const closing = this.#closing.signal
    const end = (): void => controller.abort(signal?.aborted === true ? signal.reason : undefined)
    const expire = (): void => controller.abort(new DOMException('the attempt took too long', 'TimeoutError'))
    // 50 bytes a millisecond is a slow line that still gets anywhere
    const timer = setTimeout(expire, this.#limits.attemptTimeout + bytes / 50)
    signal?.addEventListener('abort', end)
    closing.addEventListener('abort', end)
    const { client } = this
    try {
      const running = attempt({
        client,
        abortSignal: controller.signal,
        repeated,
        alive: () => timer.refresh(),
      })
      return await raceAbort(running, controller.signal)
    } catch (error) {
      if (controller.signal.reason instanceof DOMException && controller.signal.reason.name === 'TimeoutError') {
        throw controller.signal.reason
      }
      throw error
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      closing.removeEventListener('abort', end)
    }
  }

  async #sleep(delay: number, task: Task): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, delay)
    const wake = (): void => resolve()
    task.signal?.addEventListener('abort', wake)
    this.#closing.signal.addEventListener('abort', wake)
    await promise
    clearTimeout(timer)
    task.signal?.removeEventListener('abort', wake)
    this.#closing.signal.removeEventListener('abort', wake)
    this.#check(task)
  }

  #check({ operation, path, signal }: Task): void {
    if (signal?.aborted === true) throw signal.reason
    if (this.closed) throw failure('ECLOSED', operation, path)
  }
}

/** The SDK obeys its signal everywhere but while it waits for a socket or for credentials. */
export async function raceAbort<Result>(running: Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  if (signal === undefined) return running
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const onAbort = (): void => reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  running.catch(() => undefined)
  try {
    return await Promise.race([running, aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
