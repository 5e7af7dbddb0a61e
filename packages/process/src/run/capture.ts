import type { CapturedOutput } from './types.ts'

export interface OutputCapture {
  /** Copies what it keeps: the chunk may be reused. */
  push(chunk: Uint8Array): void
  /** What was kept so far. */
  result(): CapturedOutput
}

/**
 * Keeps the first and the last bytes of a stream in constant memory: at most `maxBytes`, half each. Neither half ends
 * or starts inside a UTF-8 character.
 */
export function captureOutput(options: { readonly maxBytes: number }): OutputCapture {
  const headLimit = Math.ceil(options.maxBytes / 2)
  const head = createRing(headLimit)
  const tail = createRing(options.maxBytes - headLimit)
  let totalBytes = 0
  return {
    push(chunk) {
      totalBytes += chunk.length
      const room = headLimit - head.length()
      if (room > 0) head.push(chunk.subarray(0, room))
      if (chunk.length > room) tail.push(chunk.subarray(room))
    },
    result() {
      return assemble(head.content(), tail.content(), totalBytes)
    },
  }
}

function assemble(first: Buffer, last: Buffer, totalBytes: number): CapturedOutput {
  if (first.length + last.length === totalBytes) {
    const whole = last.length === 0 ? first : Buffer.concat([first, last])
    return { text: whole.toString('utf8'), head: whole, tail: empty, totalBytes, omittedBytes: 0, truncated: false }
  }
  const head = first.subarray(0, completeLength(first))
  const tail = last.subarray(strayLength(last))
  const omittedBytes = totalBytes - head.length - tail.length
  const text = `${head.toString('utf8')}\n[… ${omittedBytes} bytes omitted …]\n${tail.toString('utf8')}`
  return { text, head, tail, totalBytes, omittedBytes, truncated: true }
}

const empty = Buffer.alloc(0)

/** Length without a character that is cut off at the end. */
function completeLength(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte < 0x80) break
    if (byte < 0xc0) continue
    const expected = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
    return expected > back ? bytes.length - back : bytes.length
  }
  return bytes.length
}

/** Length of what is left of a character that was cut off at the start. */
function strayLength(bytes: Buffer): number {
  let stray = 0
  while (stray < 3 && stray < bytes.length && ((bytes[stray] ?? 0) & 0xc0) === 0x80) stray++
  return stray
}

/** Keeps the last `limit` bytes. Grows by doubling up to the limit, since most outputs are small. */
function createRing(limit: number) {
  let buffer = empty
  let start = 0
  let length = 0
  function grow(wanted: number) {
    const larger = Buffer.allocUnsafe(Math.min(limit, Math.max(wanted, buffer.length * 2, 4096)))
    buffer.copy(larger, 0, 0, length) // nothing has wrapped while the buffer is below its limit
    buffer = larger
  }
  return {
    length: () => length,
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
    content(): Buffer {
      const straight = Math.min(length, buffer.length - start)
      return Buffer.concat([buffer.subarray(start, start + straight), buffer.subarray(0, length - straight)], length)
    },
  }
}
