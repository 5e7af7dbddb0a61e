import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ProcessInput } from './types.ts'

/** A process may close its input, or end, before it has read everything: that is its right, not an error. */
export function ignoreClosedPipe<T extends Writable>(stream: T): T {
  stream.on('error', () => undefined)
  return stream
}

/** Writes what the process is to read. A source that is not finished when the process ends is closed. */
export function feedInput(stdin: Writable, input: ProcessInput | undefined, ended: AbortSignal): void {
  ignoreClosedPipe(stdin)
  if (typeof input === 'string' || input instanceof Uint8Array) {
    stdin.end(input)
    return
  }
  if (typeof input !== 'object') return
  // A source that fails ends the input early; the process decides what that means.
  pipeline(Readable.from(input), stdin, { signal: ended }).catch(() => stdin.destroy())
}
