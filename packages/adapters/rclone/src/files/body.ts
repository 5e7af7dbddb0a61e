import type { WriteData } from '@ws/core/adapter'

export interface Body {
  readonly data: WriteData
  /** Something of it was read: a stream can be read once. */
  readonly begun: boolean
}

/** A body that knows whether it was begun. `atEnd`: for streams, awaited when the last chunk was taken. */
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
