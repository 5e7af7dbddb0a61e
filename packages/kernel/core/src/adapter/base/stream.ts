import type { ReadResult, ReadStreamResult, WriteData } from '../../contract/file-types.ts'

const chunkBytes = 64 * 1024

export async function streamOf(reading: Promise<ReadResult>): Promise<ReadStreamResult> {
  const { bytes, stat } = await reading
  return { stat, stream: chunksOf(bytes) }
}

/** Content in chunks that the receiver owns. */
export async function* chunksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array, undefined> {
  for (let start = 0; start < bytes.length; start += chunkBytes) {
    yield new Uint8Array(bytes.subarray(start, start + chunkBytes))
  }
  return undefined
}

export async function collect(data: WriteData): Promise<Uint8Array> {
  if (data instanceof Uint8Array) return new Uint8Array(data)
  const chunks: Uint8Array[] = []
  for await (const chunk of data) chunks.push(new Uint8Array(chunk)) // the giver may use its own again
  const bytes = new Uint8Array(chunks.reduce((size, chunk) => size + chunk.length, 0))
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.length
  }
  return bytes
}
