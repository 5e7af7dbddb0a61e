import { completeLength, strayLength } from '@ws/core/executor'

import { createRing, type Ring } from './ring.ts'
import type { CapturedOutput } from './types.ts'

export interface OutputCapture {
  /** Copies what it keeps: the chunk may be reused. */
  push(chunk: Uint8Array): void
  /** The output kept so far. */
  result(): CapturedOutput
  /** One with the same content, which goes its own way from now on. */
  copy(): OutputCapture
}

/** Keeps a stream's first and last bytes, `maxBytes` in all, half each. No half is cut inside a UTF-8 character. */
export function captureOutput(options: { readonly maxBytes: number }): OutputCapture {
  const headLimit = Math.ceil(options.maxBytes / 2)
  return capture({
    headLimit,
    head: createRing(headLimit),
    tail: createRing(options.maxBytes - headLimit),
    totalBytes: 0,
  })
}

interface Kept {
  readonly headLimit: number
  readonly head: Ring
  readonly tail: Ring
  readonly totalBytes: number
}

function capture({ headLimit, head, tail, totalBytes: before }: Kept): OutputCapture {
  let totalBytes = before
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
    copy: () => capture({ headLimit, head: head.clone(), tail: tail.clone(), totalBytes }),
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
