/** Characters below 0x20 that text has: TAB, LF, FF, CR. */
const textControls = new Set([0x09, 0x0a, 0x0c, 0x0d])

/**
 * Whether bytes are not text [FS3]: a NUL among them, or more than 5 % control characters. Empty is text.
 *
 * @param head The first bytes of a file; 8,192 are enough.
 */
export function looksBinary(head: Uint8Array): boolean {
  let controls = 0
  for (const byte of head) {
    if (byte === 0) return true
    if (byte < 0x20 && !textControls.has(byte)) controls += 1
  }
  return controls > head.length * 0.05
}
