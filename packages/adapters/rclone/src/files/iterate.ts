import type { Task } from '../mount/pending.ts'

/** Rejects operations of an iteration if the mount hangs. */
interface Tracker {
  track<Result>(call: Task, work: () => Promise<Result>): Promise<Result>
}

/** Iterates through the mount. Each step ends if the mount hangs. */
export function trackIterator<Item>(
  call: Task,
  tracker: Tracker,
  open: () => Promise<AsyncIterator<Item>>,
): AsyncIterableIterator<Item> {
  let inner: AsyncIterator<Item> | undefined
  return {
    async next() {
      inner ??= await open()
      const source = inner
      return await tracker.track(call, () => source.next())
    },
    async return() {
      const source = inner
      if (source?.return !== undefined)
        await tracker.track({ ...call, signal: undefined }, async () => source.return?.())
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
