import type { WriteData } from '@ws/core/adapter'

export interface Body {
  readonly data: WriteData
  /** True if a part of the body was read: a stream can be read only once. */
  readonly begun: boolean
}

/** Wraps a body to record whether its reading has begun. `atEnd`: for streams, awaited after the last chunk. */
export function watched(data: WriteData, atEnd: () => Promise<void>): Body {
  if (data instanceof Uint8Array) return { data, begun: false }
  const body = {
    begun: false,
    data: {
      [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
        body.begun = true
        const inner = data[Symbol.asyncIterator]()
        return {
          async next() {
            const result = await inner.next()
            if (result.done === true) await atEnd()
            return result
          },
          async return() {
            await inner.return?.()
            return { done: true, value: undefined }
          },
        }
      },
    },
  }
  return body
}
