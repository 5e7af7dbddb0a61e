export interface Cut {
  readonly after: number
  readonly error: unknown
}

/** An iteration that may fail early. `begin` gives the fault before the source opens. If the caller stops early, the source is closed. */
export function tear<Item>(
  open: () => AsyncIterator<Item>,
  begin: () => Promise<Cut | undefined>,
): AsyncIterableIterator<Item> {
  let source: AsyncIterator<Item> | undefined
  let cut: Cut | undefined
  let left = Infinity
  let state: 'new' | 'open' | 'done' = 'new'

  const next = async (): Promise<IteratorResult<Item>> => {
    if (state === 'done') return { done: true, value: undefined }
    if (state === 'new') {
      state = 'open'
      cut = await begin()
      left = cut?.after ?? Infinity
      source = open()
    }
    if (cut !== undefined && left <= 0) return breakOff(cut)
    const result = await source?.next()
    if (result === undefined || result.done === true) return cut === undefined ? end() : breakOff(cut)
    const { value } = result
    if (!(value instanceof Uint8Array)) {
      left -= 1
      return result
    }
    const part = left < value.length ? value.subarray(0, left) : value
    left -= value.length
    return { done: false, value: part as Item & Uint8Array }
  }
  const end = (): IteratorReturnResult<undefined> => {
    state = 'done'
    return { done: true, value: undefined }
  }
  const breakOff = async ({ error }: Cut): Promise<never> => {
    state = 'done'
    await source?.return?.()
    throw error
  }
  return {
    async next() {
      try {
        return await next()
      } catch (error) {
        state = 'done'
        throw error
      }
    },
    async return() {
      const opened = state === 'new' ? undefined : source
      // an open stream uses resources before its first chunk
      await (state === 'new' ? open() : opened)?.return?.()
      return end()
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
