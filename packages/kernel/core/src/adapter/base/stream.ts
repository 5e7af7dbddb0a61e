import type { ReadResult, ReadStreamResult, WriteData } from '../../contract/file-types.ts'

const chunkBytes = 64 * 1024

export async function streamOf(reading: Promise<ReadResult>): Promise<ReadStreamResult> {
  const { bytes, stat } = await reading
  return { stat, stream: chunksOf(bytes) }
}

/** Yields content in chunks that the receiver may keep and change. */
export async function* chunksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array, undefined> {
  for (let start = 0; start < bytes.length; start += chunkBytes) {
    yield new Uint8Array(bytes.subarray(start, start + chunkBytes))
  }
  return undefined
}

export async function collect(data: WriteData): Promise<Uint8Array> {
  if (data instanceof Uint8Array) return new Uint8Array(data)
  const chunks: Uint8Array[] = []
  for await (const chunk of data) chunks.push(new Uint8Array(chunk)) // the producer may reuse its chunk
  const bytes = new Uint8Array(chunks.reduce((size, chunk) => size + chunk.length, 0))
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.length
  }
  return bytes
}
