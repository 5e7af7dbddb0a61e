import type { S3Connection } from '@ws/test-fixtures/s3'

/** One way to talk to the bucket that all share. */
export interface S3Client {
  readonly name: string
  put(key: string, content: Uint8Array): Promise<unknown>
  /** Resolves with the bytes' number. */
  get(key: string): Promise<number>
  /** The keys right below a directory; resolves with their number. */
  list(directory: string): Promise<number>
  /** A stream, in parts of {@link partBytes}, {@link partsAtATime} on their way. */
  upload(key: string, content: () => AsyncIterable<Uint8Array>): Promise<unknown>
  /** A stream whose bytes are not kept; resolves with their number. */
  download(key: string): Promise<number>
  /** The same, and compares what came with the MD5s in its ETag; absent where `download` does, or cannot. */
  readonly downloadChecked?: (key: string) => Promise<number>
  /** The lines below a directory that hold a literal text; resolves with their number. */
  search(directory: string, text: string): Promise<number>
  close(): Promise<unknown>
}

export type OpenS3Client = (connection: S3Connection) => S3Client | Promise<S3Client>

export const partBytes = 8 * 1024 * 1024
export const partsAtATime = 3
/** Requests at a time, where several are. */
export const concurrency = 16

/** Does `work` on all items, {@link concurrency} at a time. */
export async function forEach<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  work: (item: Item) => Promise<unknown>,
  limit = concurrency,
): Promise<void> {
  const iterator = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]()
  let ended = false
  const worker = async (): Promise<void> => {
    while (!ended) {
      const next = await iterator.next()
      if (next.done === true) ended = true
      else await work(next.value)
    }
  }
  await Promise.all(Array.from({ length: limit }, worker))
}

/** A stream cut into parts of {@link partBytes}. */
export async function* partsOf(content: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let pieces: Uint8Array[] = []
  let filled = 0
  for await (const chunk of content) {
    pieces.push(chunk)
    filled += chunk.length
    if (filled < partBytes) continue
    const part = Buffer.concat(pieces)
    yield part.subarray(0, partBytes)
    pieces = filled === partBytes ? [] : [part.subarray(partBytes)]
    filled -= partBytes
  }
  if (filled > 0) yield Buffer.concat(pieces)
}

/** The least that a search does with a file: bytes to text, lines with their numbers. */
export function matchingLines(content: Uint8Array, text: string): { line: number; text: string }[] {
  const buffer = Buffer.from(content.buffer, content.byteOffset, content.byteLength)
  if (!buffer.includes(text)) return []
  return buffer
    .toString('utf8')
    .split('\n')
    .flatMap((line, index) => (line.includes(text) ? [{ line: index + 1, text: line }] : []))
}
