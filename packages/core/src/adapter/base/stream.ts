import { invalidArgument } from '../failures.ts'
import type { ReadResult, ReadStreamResult, WriteData } from '../types.ts'
import { orAbort } from './wait.ts'

/** Bytes of one chunk of a stream. */
const chunkBytes = 64 * 1024

/** Bytes that were read at once, as a stream. */
export async function streamOf(
  reading: Promise<ReadResult>,
  signal: AbortSignal | undefined,
): Promise<ReadStreamResult> {
  const { bytes, stat } = await reading
  return { stat, stream: chunksOf(bytes, signal) }
}

/** Content in chunks that are the receiver's own. */
export async function* chunksOf(bytes: Uint8Array, signal?: AbortSignal): AsyncGenerator<Uint8Array, undefined> {
  for (let start = 0; start < bytes.length; start += chunkBytes) {
    signal?.throwIfAborted()
    yield new Uint8Array(bytes.subarray(start, start + chunkBytes))
  }
  return undefined
}

/** All of a stream, in an array of its own. An abort ends the wait for it. @throws WorkspaceError `EINVAL` for a foreign chunk */
export async function collect(data: WriteData, path: string, signal?: AbortSignal): Promise<Uint8Array> {
  if (data instanceof Uint8Array) return new Uint8Array(data)
  const chunks: Uint8Array[] = []
  const iterator = data[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = await (signal === undefined ? iterator.next() : orAbort(Promise.resolve(iterator.next()), signal))
      if (next.done === true) break
      const chunk: unknown = next.value
      if (!(chunk instanceof Uint8Array)) {
        throw invalidArgument('write', path, 'was given a chunk that is not a Uint8Array')
      }
      chunks.push(new Uint8Array(chunk)) // the giver may use its own again
    }
  } catch (error) {
    // not awaited: a stream that hangs would hang its end too
    iterator.return?.().then(undefined, () => undefined)
    throw error
  }
  const bytes = new Uint8Array(chunks.reduce((size, chunk) => size + chunk.length, 0))
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.length
  }
  return bytes
}

/** A body that fails after the adapter was closed, so that nothing is written then. By hand: leaving it waits for nobody. */
export function whileOpen(data: AsyncIterable<Uint8Array>, assertOpen: () => void): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]() {
      const source = data[Symbol.asyncIterator]()
      return {
        async next() {
          const result = await source.next()
          assertOpen()
          return result
        },
        return: async () => (await source.return?.()) ?? { done: true, value: undefined },
      }
    },
  }
}
