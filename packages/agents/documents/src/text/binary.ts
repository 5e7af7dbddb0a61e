import { byteOrderMark } from './byte-order-mark.ts'

const textControls = new Set([0x09, 0x0a, 0x0c, 0x0d])

/**
 * True for bytes that are not text [FS3]: a NUL, or more than 5 % control characters. Empty content is text.
 * After a byte order mark of UTF-16, characters are counted instead of bytes. @param head a file's first bytes; 8,192 are enough
 */
export function looksBinary(head: Uint8Array): boolean {
  const mark = byteOrderMark(head)
  const units = mark === 'utf-16le' || mark === 'utf-16be' ? utf16Units(head, mark === 'utf-16be') : head
  let controls = 0
  for (const unit of units) {
    if (unit === 0) return true
    if (unit < 0x20 && !textControls.has(unit)) controls += 1
  }
  return controls > units.length * 0.05
}

/** Drops an odd byte at the end, where the head of a file may be cut. */
function utf16Units(bytes: Uint8Array, bigEndian: boolean): Uint16Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return Uint16Array.from({ length: Math.floor(bytes.length / 2) - 1 }, (_, index) =>
    view.getUint16((index + 1) * 2, !bigEndian),
  )
}
