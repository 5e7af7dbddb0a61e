/** A text and the facts about its bytes. */
export interface DecodedText {
  readonly text: string
  readonly encoding: string
  readonly bom: boolean
  readonly lineEnding: 'lf' | 'crlf' | 'cr' | 'mixed' | 'none'
  readonly finalNewline: boolean
}

const marks = [
  { bytes: [0xef, 0xbb, 0xbf], encoding: 'utf-8' },
  { bytes: [0xff, 0xfe], encoding: 'utf-16le' },
  { bytes: [0xfe, 0xff], encoding: 'utf-16be' },
] as const

/** The text by its byte order mark, else as UTF-8; `undefined` where the bytes are neither. */
export function decode(bytes: Uint8Array): DecodedText | undefined {
  const mark = marks.find((one) => one.bytes.every((byte, index) => bytes[index] === byte))
  const encoding = mark?.encoding ?? 'utf-8'
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes)
    return {
      text,
      encoding,
      bom: mark !== undefined,
      lineEnding: lineEndingOf(text),
      finalNewline: /[\r\n]$/u.test(text),
    }
  } catch {
    return undefined
  }
}

function lineEndingOf(text: string): DecodedText['lineEnding'] {
  const feed = text.indexOf('\n')
  if (feed < 0) return text.includes('\r') ? 'cr' : 'none'
  const isCrlf = text[feed - 1] === '\r'
  const others = isCrlf ? /(?<!\r)\n/u : /\r\n/u
  return others.test(text) ? 'mixed' : isCrlf ? 'crlf' : 'lf'
}
