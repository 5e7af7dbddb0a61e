import type { MountPath } from '@ws/core/adapter'

import { failure } from '../errors.ts'

/** An operation as errors name it. */
export interface Task {
  readonly operation: string
  readonly path: MountPath
  /** Aborts the wait. */
  readonly signal?: AbortSignal | undefined
}

interface Entry extends Task {
  readonly since: number
  readonly hasOwnLimit: boolean
  readonly reject: (error: unknown) => void
}

export interface PendingOptions {
  /** Milliseconds that an operation may wait without an answer. */
  readonly limit: number
  /** Checks whether the store answers within the given milliseconds. */
  readonly ask: (ms: number) => Promise<boolean>
}

export interface TrackOptions {
  /** True if the operation has its own limit, even if the store hangs. Default false. */
  readonly hasOwnLimit?: boolean | undefined
}

/** The part that does not answer: the server of the mount, or the store. */
type Silent = 'mount' | 'store'

/** An operation on a slow store that still answers may take this many times its limit. */
const slowFactor = 30
/** Minimum of milliseconds for an answer of the store. */
const answerMs = 1_000
/** Milliseconds between two checks while an operation has waited for long. */
const lookEveryMs = 50

/**
 * Operations in progress on the mount. A hanging mount never answers, and a system call cannot be cancelled.
 * The waiting caller gets an error, and the call itself ends when rclone continues or is killed.
 *
 * After half of an operation's limit, the store is queried. If the store does not answer, operations end at their limit;
 * otherwise they have {@link slowFactor} times as long.
 */
export class Pending {
  readonly #options: PendingOptions
  readonly #entries = new Set<Entry>()
  #isLooking = false
  #asking = false
  #isSilent = false

  constructor(options: PendingOptions) {
    this.#options = options
  }

  async track<Result>(call: Task, work: () => Promise<Result>, options: TrackOptions = {}): Promise<Result> {
    const { signal } = call
    signal?.throwIfAborted()
    const { promise: expired, reject } = Promise.withResolvers<never>()
    const { hasOwnLimit = false } = options
    const entry: Entry = { ...call, since: performance.now(), hasOwnLimit, reject }
    const onAbort = (): void => reject(signal?.reason)
    this.#entries.add(entry)
    this.#lookAfter(this.#options.limit / 2)
    signal?.addEventListener('abort', onAbort, { once: true })
    try {
      return await Promise.race([work(), expired])
    } finally {
      this.#entries.delete(entry)
      signal?.removeEventListener('abort', onAbort)
    }
  }

  /** Rejects all waiting operations, because the mount does not answer. */
  expire(): void {
    for (const entry of this.#entries) this.#end(entry, 'mount')
  }

  #lookAfter(ms: number): void {
    if (this.#isLooking) return
    this.#isLooking = true
    setTimeout(() => this.#look(), ms).unref()
  }

  #look(): void {
    this.#isLooking = false
    const { limit } = this.#options
    const now = performance.now()
    const waiting = [...this.#entries].filter(({ hasOwnLimit }) => !hasOwnLimit)
    const [oldest] = waiting
    if (oldest === undefined) return
    const untilAskMs = oldest.since + limit / 2 - now
    if (untilAskMs <= 0) {
      void this.#ask(Math.max(limit / 2, answerMs))
      const endsAfterMs = this.#isSilent ? limit : limit * slowFactor
      for (const entry of waiting) if (now - entry.since >= endsAfterMs) this.#end(entry, 'store')
    }
    this.#lookAfter(Math.max(untilAskMs, lookEveryMs))
  }

  /** Queries the store. Never rejects: a missing answer is a result too. */
  async #ask(ms: number): Promise<void> {
    if (this.#asking) return
    this.#asking = true
    try {
      this.#isSilent = !(await this.#options.ask(ms))
    } finally {
      this.#asking = false
    }
  }

  #end(entry: Entry, silent: Silent): void {
    this.#entries.delete(entry)
    entry.reject(hungError(entry, silent))
  }
}

export function hungError({ operation, path }: Task, silent: Silent = 'mount'): Error {
  return failure('ETIMEDOUT', `could not be worked on in time: the ${silent} does not answer`, {
    operation,
    path,
    remedy: 'try again later; whether a change took place is not known until then',
  })
}

export function closedError({ operation, path }: Partial<Task> & { readonly operation: string }): Error {
  return failure('ECLOSED', 'the adapter is closed', { operation, path, remedy: 'create a new one' })
}
