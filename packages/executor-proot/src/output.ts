/** One output stream as it comes, beside its capture. */
export interface OutputStream extends AsyncIterable<Uint8Array> {
  /** Gives a promise when a reader is behind: reading from the process waits for it. */
  push(chunk: Uint8Array): void | Promise<void>
  end(): void
}

/** Bytes that may wait for a reader before the process waits, too. */
const highWaterMark = 64 * 1024

/**
 * Holds what came until somebody reads. As long as nobody does, at most `maxBytes` are kept, the first ones, and the
 * process never waits; a reader that comes later than that misses what lies between.
 */
export function createOutputStream(maxBytes: number): OutputStream {
  const chunks: Uint8Array[] = []
  let waitingBytes = 0
  let reader: 'none' | 'reading' | 'gone' = 'none'
  let ended = false
  let wake: (() => void) | undefined
  let resume: (() => void) | undefined

  function changed() {
    wake?.()
    wake = undefined
  }
  function caughtUp() {
    if (waitingBytes >= highWaterMark && reader === 'reading') return
    resume?.()
    resume = undefined
  }
  async function* read(): AsyncGenerator<Uint8Array> {
    if (reader !== 'none') throw new TypeError('an output stream has one reader')
    reader = 'reading'
    try {
      while (true) {
        const chunk = chunks.shift()
        if (chunk !== undefined) {
          waitingBytes -= chunk.length
          caughtUp()
          yield chunk
        } else if (ended) return
        else await new Promise<void>((resolve) => (wake = resolve))
      }
    } finally {
      reader = 'gone'
      chunks.length = 0
      waitingBytes = 0
      caughtUp()
    }
  }
  return {
    push(chunk) {
      if (reader === 'gone' || (reader === 'none' && waitingBytes + chunk.length > maxBytes)) return
      chunks.push(Uint8Array.from(chunk))
      waitingBytes += chunk.length
      changed()
      if (reader === 'reading' && waitingBytes >= highWaterMark) {
        return new Promise<void>((resolve) => (resume = resolve))
      }
    },
    end() {
      ended = true
      changed()
    },
    [Symbol.asyncIterator]: read,
  }
}
