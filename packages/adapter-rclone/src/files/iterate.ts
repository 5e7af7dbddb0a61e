/** An iteration through the mount, each step of which ends when the mount hangs. */
export function trackIterator<Item>(
  open: () => Promise<AsyncIterator<Item>>,
  track: <Result>(work: () => Promise<Result>) => Promise<Result>,
): AsyncIterableIterator<Item> {
  let inner: AsyncIterator<Item> | undefined
  let done = false
  return {
    async next() {
      if (done) return { done: true, value: undefined }
      try {
        inner ??= await open()
        const source = inner
        const result = await track(() => source.next())
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
      if (source?.return !== undefined) await track(async () => source.return?.())
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
