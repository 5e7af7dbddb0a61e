import type { Terminal } from '@ws/core/executor'
import { readFileSync, writeSync } from 'node:fs'

import { withSpareDescriptor } from '../run/room.ts'

/** Maximum number of bytes that wait for a program. Above it, a write is refused. */
export const mostWaiting = 16 * 2 ** 20
const retryMs = 5
const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined)

type WriteOutcome = Awaited<ReturnType<Terminal['write']>>

export interface TerminalWriter {
  /** Resolves when the terminal has accepted all bytes, is closed, or has too many waiting bytes. */
  write(data: Uint8Array): Promise<WriteOutcome>
  close(): void
}

/** Writes to a terminal's master without blocking this process. Retries by a timer, since no event reports free space. */
export function createWriter(descriptor: number): TerminalWriter {
  const index = terminalIndex(descriptor)
  let closed = index === undefined
  let waiting = 0
  let last: Promise<WriteOutcome> = Promise.resolve('written')

  async function all(data: Uint8Array): Promise<WriteOutcome> {
    try {
      for (let done = 0; done < data.length; ) {
        // The library may close the descriptor at any time. Another file can then have the same number.
        if (closed || terminalIndex(descriptor) !== index) return 'closed'
        try {
          done += writeSync(descriptor, data, done, Math.min(data.length - done, 65_536))
        } catch (error) {
          if (codeOf(error) !== 'EAGAIN') return 'closed'
          await new Promise((resolve) => setTimeout(resolve, retryMs))
        }
      }
      return 'written'
    } finally {
      waiting -= data.length
    }
  }

  return {
    write(data) {
      if (closed) return Promise.resolve('closed')
      if (waiting + data.length > mostWaiting) return Promise.resolve('full')
      waiting += data.length
      const own = Uint8Array.from(data)
      last = last.then(() => all(own))
      return last
    },
    close() {
      closed = true
    },
  }
}

function terminalIndex(descriptor: number): string | undefined {
  try {
    return /^tty-index:\s*(\d+)/m.exec(
      withSpareDescriptor(() => readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1')),
    )?.[1]
  } catch {
    return undefined
  }
}
