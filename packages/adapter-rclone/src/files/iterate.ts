import type { Call } from '../mount/pending.ts'

/** Where the iteration takes place: an operation that hangs there is given up. */
interface Place {
  track<Result>(call: Call, work: () => Promise<Result>): Promise<Result>
}

/** An iteration through the mount, each step of which ends when the mount hangs. */
export function trackIterator<Item>(
  call: Call,
  place: Place,
  open: () => Promise<AsyncIterator<Item>>,
): AsyncIterableIterator<Item> {
  let inner: AsyncIterator<Item> | undefined
  return {
    async next() {
      inner ??= await open()
      const source = inner
      return await place.track(call, () => source.next())
    },
    async return() {
      const source = inner
      if (source?.return !== undefined) await place.track({ ...call, signal: undefined }, async () => source.return?.())
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
