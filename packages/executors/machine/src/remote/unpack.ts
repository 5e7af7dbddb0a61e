import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

import { extract } from 'tar-stream'

import { keyOf } from './listing.ts'

export interface Content {
  readonly key: string
  readonly bytes: AsyncIterable<Uint8Array>
}

/**
 * Reads the expected files of an archive, each once. Ends when all have come, or the archive ends.
 * The machine may send anything: other entries are passed over, and no entry is written by its own name.
 */
export async function* readArchive(
  archive: AsyncIterable<Uint8Array>,
  expected: Set<string>,
): AsyncGenerator<Content, undefined> {
  const entries = extract()
  const fed = pipeline(Readable.from(archive), entries)
  fed.catch(() => undefined) // the loop over the entries reports the same error
  try {
    if (expected.size === 0) return undefined
    for await (const entry of entries) {
      const { name, type } = entry.header
      const key = keyOf(name.slice(2))
      const isWanted = type === 'file' && name.startsWith('./') && expected.delete(key) // @defence links, devices, names outside and second entries in an archive: passes over
      if (isWanted) yield { key, bytes: entry as AsyncIterable<Uint8Array> }
      entry.resume()
      if (expected.size === 0) return undefined
    }
  } finally {
    entries.destroy()
  }
  return undefined
}

/** Bytes that must have a size and a digest. Ends with an error otherwise, so that a write of them keeps the old content. */
export class Checked implements AsyncIterable<Uint8Array> {
  isBegun = false
  isTorn = false
  readonly #source: AsyncIterable<Uint8Array>
  readonly #size: number
  readonly digest: string

  constructor(source: AsyncIterable<Uint8Array>, size: number, digest: string) {
    this.#source = source
    this.#size = size
    this.digest = digest
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, undefined> {
    this.isBegun = true
    const hash = createHash('sha256')
    let size = 0
    this.isTorn = true
    for await (const chunk of this.#source) {
      size += chunk.length
      if (size > this.#size) throw new Error('more bytes than announced')
      hash.update(chunk)
      yield chunk
    }
    if (hash.digest('hex') !== this.digest) throw new Error('other bytes than announced') // @defence a file that is cut or changed on its way from a machine: whose bytes are others
    this.isTorn = false
    return undefined
  }
}

export async function digestOfAll(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of chunks) hash.update(chunk)
  return hash.digest('hex')
}
