import { createHash } from 'node:crypto'

/** Bytes of a log's header. A restarted log has a different header. */
export const headBytes = 32
const frameBytes = 24
/** The magic number of logs whose checksums use little-endian words. */
const magic = 0x377f0682

/**
 * Builds a SQLite log that turns any earlier state of a database into the present state: all pages of the database, then the pages
 * committed in the log. The log fits the present database too. Returns `undefined` if the bytes are no database with a log.
 */
export function joinedLog(database: Buffer, log: Buffer): Buffer | undefined {
  if (database.length < 100 || database.toString('latin1', 0, 16) !== 'SQLite format 3\0') return undefined
  const pageBytes = database.readUInt16BE(16) === 1 ? 65_536 : database.readUInt16BE(16)
  const isPaged = pageBytes >= 512 && database.length % pageBytes === 0 && database.readUInt16BE(18) === 0x0202
  if (!isPaged || (log.length >= headBytes && log.readUInt32BE(8) !== pageBytes)) return undefined
  const committed = committedIn(log, pageBytes)
  const [own, count] = [database.length / pageBytes, database.length / pageBytes + committed.length]
  const joined = Buffer.alloc(headBytes + count * (frameBytes + pageBytes))
  for (const [index, word] of [magic, 3_007_000, pageBytes].entries()) joined.writeUInt32BE(word, index * 4)
  createHash('md5').update(database).update(log).digest().copy(joined, 16, 0, 8)
  let sum = add(Buffer.alloc(8), joined.subarray(0, 24), true)
  sum.copy(joined, 24)
  for (let index = 0; index < count; index += 1) {
    const frame = joined.subarray(headBytes + index * (frameBytes + pageBytes))
    const from = committed[index - own]
    frame.writeUInt32BE(from?.readUInt32BE(0) ?? index + 1, 0)
    if (index === count - 1) frame.writeUInt32BE(from?.readUInt32BE(4) ?? own, 4)
    joined.copy(frame, 8, 16, 24)
    const page = from?.subarray(frameBytes) ?? database.subarray(index * pageBytes, (index + 1) * pageBytes)
    page.copy(frame, frameBytes)
    sum = add(add(sum, frame.subarray(0, 8), true), page, true)
    sum.copy(frame, 16)
  }
  return joined
}

function committedIn(log: Buffer, pageBytes: number): readonly Buffer[] {
  if (log.length < headBytes) return []
  const isLittle = log.readUInt32BE(0) === magic
  let sum = add(Buffer.alloc(8), log.subarray(0, 24), isLittle)
  if (!sum.equals(log.subarray(24, headBytes))) return []
  const frames: Buffer[] = []
  let committed = 0
  for (let at = headBytes; at + frameBytes + pageBytes <= log.length; at += frameBytes + pageBytes) {
    const frame = log.subarray(at, at + frameBytes + pageBytes)
    sum = add(add(sum, frame.subarray(0, 8), isLittle), frame.subarray(frameBytes), isLittle)
    if (log.compare(frame, 8, 16, 16, 24) !== 0 || !sum.equals(frame.subarray(16, 24))) break
    frames.push(frame)
    if (frame.readUInt32BE(4) !== 0) committed = frames.length
  }
  return frames.slice(0, committed)
}

/** SQLite's checksum, which continues from frame to frame. */
function add(sum: Buffer, bytes: Buffer, isLittle: boolean): Buffer {
  let [one, two] = [sum.readUInt32BE(0), sum.readUInt32BE(4)]
  const words = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  for (let at = 0; at < bytes.length; at += 8) {
    one = (one + words.getUint32(at, isLittle) + two) >>> 0
    two = (two + words.getUint32(at + 4, isLittle) + one) >>> 0
  }
  const next = Buffer.alloc(8)
  next.writeBigUInt64BE((BigInt(one) << 32n) | BigInt(two))
  return next
}
