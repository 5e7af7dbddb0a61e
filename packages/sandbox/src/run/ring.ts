const empty = Buffer.alloc(0)

/** The last bytes of a stream. */
export interface Ring {
  /** Bytes that are kept. */
  length(): number
  /** Copies what it keeps: the chunk may be reused. */
  push(chunk: Uint8Array): void
  /** A copy. */
  content(): Buffer
  /** One with the same content. */
  clone(): Ring
}

/** Keeps the last `limit` bytes. Grows by doubling up to the limit, since most outputs are small. */
export function createRing(limit: number, from: Buffer = empty): Ring {
  let buffer = from
  let start = 0
  let length = from.length
  function grow(wanted: number) {
    const larger = Buffer.allocUnsafe(Math.min(limit, Math.max(wanted, buffer.length * 2, 4096)))
    buffer.copy(larger, 0, 0, length) // nothing has wrapped while the buffer is below its limit
    buffer = larger
  }
  const content = (): Buffer => {
    const straight = Math.min(length, buffer.length - start)
    return Buffer.concat([buffer.subarray(start, start + straight), buffer.subarray(0, length - straight)], length)
  }
  return {
    length: () => length,
    content,
    clone: () => createRing(limit, content()),
    push(chunk: Uint8Array) {
      const bytes = chunk.length > limit ? chunk.subarray(chunk.length - limit) : chunk
      if (bytes.length === 0) return
      if (length + bytes.length > buffer.length && buffer.length < limit) grow(length + bytes.length)
      const at = (start + length) % buffer.length
      const straight = Math.min(bytes.length, buffer.length - at)
      buffer.set(bytes.subarray(0, straight), at)
      buffer.set(bytes.subarray(straight), 0)
      const overwritten = Math.max(0, length + bytes.length - buffer.length)
      start = (start + overwritten) % buffer.length
      length = Math.min(buffer.length, length + bytes.length)
    },
  }
}
