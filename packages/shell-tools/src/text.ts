const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const encoder = new TextEncoder()
/** Escapes a byte that is not UTF-8, like Python's `surrogateescape`. */
const firstEscape = 0xdc00
const escapes = /[\u{dc80}-\u{dcff}]/u

/** Decodes without loss: bytes outside valid UTF-8 become lone surrogates, U+DC80 to U+DCFF. */
export function decodeText(bytes: Uint8Array): string {
  try {
    return strict.decode(bytes)
  } catch {
    return decodeEscaped(bytes)
  }
}

export function encodeText(text: string): Uint8Array {
  if (!escapes.test(text)) return encoder.encode(text)
  // UTF-8 takes at most three bytes for each unit
  const bytes = Buffer.allocUnsafe(text.length * 3)
  let length = 0
  let start = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (isFirstHalf(code) && isSecondHalf(text.charCodeAt(index + 1))) index++
    else if (code >= firstEscape + 0x80 && code <= firstEscape + 0xff) {
      if (index > start) length += bytes.write(text.slice(start, index), length)
      bytes[length++] = code - firstEscape
      start = index + 1
    }
  }
  length += bytes.write(text.slice(start), length)
  return bytes.subarray(0, length)
}

function isFirstHalf(code: number): boolean {
  return code >= 0xd800 && code < 0xdc00
}

function isSecondHalf(code: number): boolean {
  return code >= 0xdc00 && code < 0xe000
}

/** True for text that contains escaped bytes. */
export function hasForeignBytes(text: string): boolean {
  return escapes.test(text)
}

function decodeEscaped(bytes: Uint8Array): string {
  const parts: string[] = []
  let start = 0
  for (let index = 0; index < bytes.length; ) {
    const length = sequenceLength(bytes, index)
    if (length > 0) {
      index += length
      continue
    }
    if (index > start) parts.push(strict.decode(bytes.subarray(start, index)))
    parts.push(String.fromCharCode(firstEscape + (bytes[index] ?? 0)))
    start = ++index
  }
  parts.push(strict.decode(bytes.subarray(start)))
  return parts.join('')
}

/** The length in bytes of the valid UTF-8 sequence at `index`, or 0. */
function sequenceLength(bytes: Uint8Array, index: number): number {
  const first = bytes[index] ?? 0
  if (first < 0x80) return 1
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0
  if (length === 0 || first > 0xf4 || index + length > bytes.length) return 0
  for (let offset = 1; offset < length; offset++) if (((bytes[index + offset] ?? 0) & 0xc0) !== 0x80) return 0
  const second = bytes[index + 1] ?? 0
  const overlong = (first === 0xe0 && second < 0xa0) || (first === 0xf0 && second < 0x90)
  const surrogate = first === 0xed && second > 0x9f
  const beyond = first === 0xf4 && second > 0x8f
  return overlong || surrogate || beyond ? 0 : length
}
