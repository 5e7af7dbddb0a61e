import type { ByteRange, SignalOption } from '@ws/core'
import { invalid } from './errors.ts'

/** Bytes of one chunk of a stream. */
const chunkBytes = 64 * 1024

/** The bytes of a range; behind the end there are none. */
export function sliceRange(bytes: Uint8Array, range: ByteRange | undefined, path: string): Uint8Array {
  if (range === undefined) return bytes
  const { offset, length = Number.POSITIVE_INFINITY } = range
  const valid = Number.isSafeInteger(offset) && offset >= 0 && length >= 0
  if (!valid || (range.length !== undefined && !Number.isSafeInteger(length))) {
    throw invalid('read', path, 'cannot be read in that range', 'give offset and length as whole numbers from 0')
  }
  return bytes.subarray(offset, offset + length)
}

/** Content in chunks that are the receiver's own. */
export async function* streamOf(bytes: Uint8Array, { signal }: SignalOption): AsyncGenerator<Uint8Array, undefined> {
  for (let start = 0; start < bytes.length; start += chunkBytes) {
    signal?.throwIfAborted()
    yield new Uint8Array(bytes.subarray(start, start + chunkBytes))
  }
  return undefined
}

/** True for content that is there at once, so that a write need not wait. */
export function isBytes(data: unknown): data is Uint8Array {
  return data instanceof Uint8Array
}

/** All of a stream, in an array of our own. An abort ends the stream. */
export async function collect(
  data: AsyncIterable<Uint8Array>,
  path: string,
  { signal }: SignalOption,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  const iterator = data[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = await abortable(iterator.next(), signal)
      if (next.done === true) break
      if (!isBytes(next.value)) throw invalid('write', path, 'was given a chunk that is not a Uint8Array')
      chunks.push(new Uint8Array(next.value)) // the giver may use its own again
      size += next.value.length
    }
  } catch (error) {
    // not awaited: a stream that hangs would hang its end too
    iterator.return?.().catch(() => undefined)
    throw error
  }
  const bytes = new Uint8Array(size)
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.length
  }
  return bytes
}

/** A stream may hang; an abort must not wait for it. */
async function abortable<Value>(promise: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  if (signal === undefined) return promise
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const onAbort = (): void => reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
