const marks = [
  // The mark of UTF-32LE comes first, because it begins with the mark of UTF-16LE.
  { encoding: 'utf-32le', bytes: [0xff, 0xfe, 0, 0] },
  { encoding: 'utf-32be', bytes: [0, 0, 0xfe, 0xff] },
  { encoding: 'utf-8', bytes: [0xef, 0xbb, 0xbf] },
  { encoding: 'utf-16le', bytes: [0xff, 0xfe] },
  { encoding: 'utf-16be', bytes: [0xfe, 0xff] },
] as const

/** The encoding that a byte order mark names; `undefined` without a mark. */
export function byteOrderMark(head: Uint8Array): (typeof marks)[number]['encoding'] | undefined {
  return marks.find(({ bytes }) => bytes.every((byte, index) => head[index] === byte))?.encoding
}
