import type { WriteData } from '@ws/core'

/** A body that knows whether it was begun: a stream can be read once. */
export function once(data: WriteData): { readonly data: WriteData; readonly begun: boolean } {
  if (data instanceof Uint8Array || typeof data !== 'object' || data === null || !(Symbol.asyncIterator in data)) {
    return { data, begun: false }
  }
  const body = {
    begun: false,
    data: {
      [Symbol.asyncIterator]() {
        body.begun = true
        return data[Symbol.asyncIterator]()
      },
    },
  }
  return body
}
