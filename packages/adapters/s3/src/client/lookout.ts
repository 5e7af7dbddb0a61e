import { HeadBucketCommand, type S3Client } from '@aws-sdk/client-s3'
import { signals } from '@ws/core/adapter'
import { setTimeout as sleep } from 'node:timers/promises'
import { statusOf } from './native.ts'

/** Milliseconds until a request counts as waiting, for the answer to a test request, and then for late answers. */
const times = { patience: 2_000, answer: 1_500, grace: 1_000 } as const
/** Milliseconds for sent bytes to arrive over a slow line. */
const tail = 5_000

interface Waiting {
  /** When the request was sent or last made progress, by `performance.now()`. */
  since: number
  /** Milliseconds for the last bytes to arrive. */
  tail: number
  /** True if the store was silent while the request waited. */
  isDoubtful: boolean
  readonly end: () => void
}

/**
 * Notices when a silent store answers again. Requests sent before the silence are then lost, so they are aborted and repeated.
 * A slow store that answers test requests gets more time.
 */
export class Lookout {
  readonly #waiting = new Set<Waiting>()
  readonly #client: S3Client
  readonly #bucket: string
  #isLooking = false

  constructor(client: S3Client, bucket: string) {
    this.#client = client
    this.#bucket = bucket
  }

  /** `sending`: milliseconds to send the request. Returns two functions, which report progress and the end. */
  watch(end: () => void, sending: number): { readonly alive: () => void; readonly over: () => void } {
    const waiting: Waiting = { since: performance.now() + sending, tail: 0, isDoubtful: false, end }
    this.#waiting.add(waiting)
    if (!this.#isLooking) void this.#look()
    return {
      alive: () =>
        void Object.assign(waiting, { since: performance.now(), tail: Math.min(sending, tail), isDoubtful: false }),
      over: () => this.#waiting.delete(waiting),
    }
  }

  /** Sends test requests. Never rejects: silence is a result too. */
  async #look(): Promise<void> {
    this.#isLooking = true
    let wasSilent = false
    while (this.#waiting.size > 0) {
      const now = performance.now()
      const longest = Math.max(...[...this.#waiting].map(({ since }) => now - since))
      if (longest < times.patience) {
        // further requests may start during this wait
        await sleep(times.patience - Math.max(0, longest), undefined, { ref: false })
        continue
      }
      const asked = performance.now()
      const isThere = await this.#isAnswering()
      if (isThere && wasSilent) {
        await sleep(times.grace, undefined, { ref: false })
        for (const one of this.#waiting) one.isDoubtful ||= one.since < asked
      }
      const last = isThere ? performance.now() : 0
      for (const { isDoubtful, since, tail: rest, end } of this.#waiting) if (isDoubtful && since + rest < last) end()
      wasSilent = !isThere
      // a refused connection is no answer either, but fails at once
      const pause = isThere ? times.patience : Math.max(1, asked + times.answer - performance.now())
      await sleep(pause, undefined, { ref: false })
    }
    this.#isLooking = false
  }

  /** Sends a request that any store answers at once. */
  async #isAnswering(): Promise<boolean> {
    const abortSignal = AbortSignal.timeout(times.answer)
    const asking = this.#client.send(new HeadBucketCommand({ Bucket: this.#bucket }), { abortSignal })
    return signals.orAbort(asking, abortSignal).then(
      () => true,
      (error: unknown) => statusOf(error) !== undefined,
    )
  }
}
