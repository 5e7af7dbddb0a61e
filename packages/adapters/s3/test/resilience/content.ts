import { createHash } from 'node:crypto'
import type { FileState } from './known-files.ts'

const headerBytes = 8

/** Bytes that show whether they are whole. Only `id` and `size` determine them, and no two ids make the same bytes. */
export function makeContent(id: number, size: number): Uint8Array {
  const length = Math.max(size, headerBytes)
  // no multiple of a part's length, so that parts in another order are other bytes
  const pattern = createHash('sha512').update(`${id}`).digest().subarray(0, 61)
  const bytes = Buffer.alloc(length, pattern)
  bytes.writeUInt32LE(id, 0)
  bytes.writeUInt32LE(length, 4)
  return bytes
}

/** The id of content that is whole and unchanged; else it says what is wrong. */
export function idOfContent(bytes: Uint8Array): number | string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  if (buffer.length < headerBytes) return `only ${buffer.length} bytes`
  const [id, size] = [buffer.readUInt32LE(0), buffer.readUInt32LE(4)]
  if (size !== buffer.length) return `${buffer.length} of ${size} bytes of ${id}`
  return buffer.equals(makeContent(id, size)) ? id : `changed bytes of ${id}`
}

/** The state of a file that may have been appended to. @throws an error that says what is wrong with it */
export function stateOfContent(bytes: Uint8Array): FileState {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  let state: FileState = 'absent'
  for (let [at, size] = [0, 0]; at < buffer.length || state === 'absent'; at += size) {
    size = at + headerBytes <= buffer.length ? Math.max(headerBytes, buffer.readUInt32LE(at + 4)) : headerBytes
    const id = idOfContent(buffer.subarray(at, at + size))
    if (typeof id === 'string') throw new Error(`it holds ${id}`)
    state = appended(state, id)
  }
  return state
}

/** The state of a file after an append. */
export function appended(state: FileState, id: number): FileState {
  return state === 'absent' ? id : (`${state}+${id}` as FileState)
}

/** In chunks of no regular size. */
export async function* streamContent(bytes: Uint8Array, random: () => number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; ) {
    const length = 1 + Math.floor(random() * 400_000)
    yield bytes.subarray(at, at + length)
    at += length
    await Promise.resolve()
  }
}
