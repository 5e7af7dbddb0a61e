import { completeLength, strayLength } from '@ws/core/executor'

import { createRing } from './ring.ts'
import type { CapturedOutput } from './types.ts'

export interface OutputCapture {
  /** Copies what it keeps: the chunk may be reused. */
  push(chunk: Uint8Array): void
  /** The output kept so far. */
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
