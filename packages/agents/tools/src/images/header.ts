/** The kinds that the model APIs of Anthropic and OpenAI both take. */
export type ImageType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'

export interface ImageSize {
  readonly width: number
  readonly height: number
}

const iend = 0x49454e44
const text = (bytes: Uint8Array, from: number, to: number) => Buffer.from(bytes.subarray(from, to)).toString('latin1')

/** The kind by the first bytes; `undefined` for another file. */
export function imageTypeOf(head: Uint8Array): ImageType | undefined {
  const start = text(head, 0, 12)
  if (start.startsWith('\u0089PNG\r\n\u001a\n')) return 'image/png'
  if (start.startsWith('\u00ff\u00d8\u00ff')) return 'image/jpeg'
  if (/^GIF8[79]a/u.test(start)) return 'image/gif'
  if (/^RIFF[^]{4}WEBP/u.test(start)) return 'image/webp'
  return undefined
}

/** The pixels that the header claims, without decoding. `undefined` for a header that is cut off or broken. */
export function imageSizeOf(type: ImageType, bytes: Uint8Array): ImageSize | undefined {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  try {
    const size = readers[type](view)
    return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined
  } catch (error) {
    if (error instanceof RangeError) return undefined // the bytes end within the header
    throw error
  }
}

const readers: Readonly<Record<ImageType, (view: Buffer) => ImageSize | undefined>> = {
  'image/png': (view) =>
    text(view, 12, 16) === 'IHDR' ? { width: view.readUInt32BE(16), height: view.readUInt32BE(20) } : undefined,
  'image/gif': (view) => ({ width: view.readUInt16LE(6), height: view.readUInt16LE(8) }),
  'image/jpeg': jpegSize,
  'image/webp': webpSize,
}

function jpegSize(view: Buffer): ImageSize | undefined {
  const at = segmentOf(view, (marker) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker))
  return at === undefined ? undefined : { height: view.readUInt16BE(at + 5), width: view.readUInt16BE(at + 7) }
}

/** Steps from segment to segment to a marker, at most to that of the pixels. */
function segmentOf(view: Buffer, isWanted: (marker: number) => boolean): number | undefined {
  for (let at = 2; ; ) {
    if (view.readUInt8(at) !== 0xff) return undefined
    const marker = view.readUInt8(at + 1)
    if (isWanted(marker)) return at
    if (marker === 0xff) at += 1
    else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7)) at += 2
    else if (marker === 0xd9 || marker === 0xda) return undefined
    else at += 2 + Math.max(2, view.readUInt16BE(at + 2))
  }
}

function webpSize(view: Buffer): ImageSize | undefined {
  switch (text(view, 12, 16)) {
    case 'VP8 ':
      return { width: view.readUInt16LE(26) & 0x3fff, height: view.readUInt16LE(28) & 0x3fff }
    case 'VP8L': {
      const bits = view.readUInt32LE(21)
      return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff) }
    }
    case 'VP8X':
      return { width: 1 + view.readUIntLE(24, 3), height: 1 + view.readUIntLE(27, 3) }
    default:
      return undefined
  }
}

/** True for a whole image of several frames. */
export function isAnimated(type: ImageType, bytes: Uint8Array): boolean {
  if (type === 'image/webp') return text(bytes, 12, 16) === 'VP8X' && ((bytes[20] ?? 0) & 2) !== 0
  return type === 'image/gif' && gifFrames(bytes) > 1
}

/** True if the end that the kind prescribes is there. Other bytes may follow. */
export function isWhole(type: ImageType, bytes: Uint8Array): boolean {
  try {
    return hasEnd(type, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  } catch (error) {
    if (error instanceof RangeError) return false // the bytes end within a header
    throw error
  }
}

function hasEnd(type: ImageType, view: Buffer): boolean {
  switch (type) {
    case 'image/png':
      for (let at = 8; ; at += 12 + view.readUInt32BE(at)) if (view.readUInt32BE(at + 4) === iend) return true
    case 'image/jpeg': {
      // a thumbnail in the metadata has an end of its own
      const pixels = segmentOf(view, (marker) => marker === 0xda)
      return pixels !== undefined && view.indexOf(Buffer.from([0xff, 0xd9]), pixels) > 0
    }
    case 'image/gif':
      return gifFrames(view) > 0
    case 'image/webp':
      return view.readUInt32LE(4) + 8 <= view.length
  }
}

/** Counts up to two whole frames. */
function gifFrames(bytes: Uint8Array): number {
  const at = (index: number) => bytes[index] ?? 0
  const table = (flags: number) => ((flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1))
  let index = 13 + table(at(10))
  let frames = 0
  while (frames < 2) {
    const isFrame = at(index) === 0x2c
    if (!isFrame && at(index) !== 0x21) return frames
    index += isFrame ? 11 + table(at(index + 9)) : 2
    while (at(index) !== 0) index += 1 + at(index)
    if (index >= bytes.length) return frames
    index += 1
    if (isFrame) frames += 1
  }
  return frames
}
