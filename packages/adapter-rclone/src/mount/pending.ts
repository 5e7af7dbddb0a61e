import type { MountPath } from '@ws/core'

import { failure } from '../errors.ts'

/** An operation as errors name it. */
export interface Call {
  readonly operation: string
  readonly path: MountPath
}

interface Entry extends Call {
  readonly since: number
  readonly reject: (error: Error) => void
}

/**
 * Operations on their way through the mount. A mount that hangs answers nothing, and nothing can call a system call back:
 * whoever waits is told, and the call itself ends when rclone goes on or is killed.
 */
export class Pending {
  readonly #entries = new Set<Entry>()

  async track<Result>(call: Call, work: () => Promise<Result>): Promise<Result> {
    const { promise: expired, reject } = Promise.withResolvers<never>()
    const entry: Entry = { operation: call.operation, path: call.path, since: performance.now(), reject }
    this.#entries.add(entry)
    try {
      return await Promise.race([work(), expired])
    } finally {
      this.#entries.delete(entry)
    }
  }

  /** Milliseconds for which the oldest one has been waiting; 0 when there is none. */
  get oldestMs(): number {
    for (const { since } of this.#entries) return performance.now() - since
    return 0
  }

  /** Tells all of them, or those that have waited so many milliseconds, that they wait in vain. */
  expire(olderThanMs = 0): void {
    const now = performance.now()
    for (const entry of this.#entries) {
      if (now - entry.since < olderThanMs) return
      this.#entries.delete(entry)
      entry.reject(hungError(entry))
    }
  }
}

export function hungError({ operation, path }: Call): Error {
  return failure('ETIMEDOUT', 'could not be worked on in time: the mount does not answer', {
    operation,
    path,
    remedy: 'try again later; whether a change took place is not known until then',
  })
}
