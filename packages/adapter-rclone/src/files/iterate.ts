import type { Call } from '../mount/pending.ts'

/** Where the iteration takes place: what hangs there is given up. */
interface Place {
  track<Result>(call: Call, work: () => Promise<Result>): Promise<Result>
}

/**
 * An iteration through the mount, each step of which ends when the mount hangs.
 * An abort ends the steps. It does not keep anybody from leaving the iteration: `Array.fromAsync` would ask forever.
 */
export function trackIterator<Item>(
  call: Call,
  place: Place,
  open: () => Promise<AsyncIterator<Item>>,
): AsyncIterableIterator<Item> {
  let inner: AsyncIterator<Item> | undefined
  let done = false
  return {
    async next() {
      if (done) return { done: true, value: undefined }
      try {
        inner ??= await open()
        const source = inner
        const result = await place.track(call, () => source.next())
        done = result.done === true
        return result
      } catch (error) {
        done = true
        throw error
      }
    },
    async return() {
      done = true
      const source = inner
      if (source?.return !== undefined) await place.track({ ...call, signal: undefined }, async () => source.return?.())
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
