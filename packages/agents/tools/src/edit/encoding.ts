import type { BlockRange } from './locate/place.ts'
import type { Source } from './source.ts'
import { EditProblem } from './types.ts'

/** Refuses texts in another encoding than the file. ASCII text can be changed in a file that is not UTF-8. @throws EditProblem */
export function checkEncoding(source: Source, texts: readonly string[], edit: number): void {
  if (!texts.every((text) => text.isWellFormed())) {
    throw new EditProblem({
      kind: 'encoding',
      edit,
      reason: 'holds a lone surrogate, which no file can hold as text',
      remedy: 'give whole characters',
    })
  }
  const { content } = source
  if (content.includes(0) || isUtf16(content)) throw foreign(edit, 'is not text, or is UTF-16')
  // escape sequences of ISO-2022 switch to characters of two bytes, which all look like ASCII
  if (content.includes('\u001B$')) throw foreign(edit, 'is ISO-2022, or a recording of a terminal')
  if (source.isUtf8) return
  if (controls.test(content.toString('latin1'))) throw foreign(edit, 'is not text')
  if (!texts.every(isAscii)) throw foreign(edit, 'is not UTF-8, and the edit is not ASCII alone')
}

/** Refuses a place inside a character: in Shift JIS, Big5, GBK and GB 18030 a second byte can be ASCII. @throws EditProblem */
export function checkPlace(source: Source, { start, end }: BlockRange, edit: number): void {
  if (source.isUtf8 || start === end) return
  const [before = 0, first = 0] = [source.text[start - 1], source.text[start]]
  if (before < 0x80 || first < 0x30 || first > 0x7e) return
  throw new EditProblem({
    kind: 'encoding',
    edit,
    reason: 'cannot be made: the file is not UTF-8, and the text may begin with a half of a character there',
    remedy: 'begin the text at a blank or at a line, or convert the file to UTF-8 with a command first',
    lines: [source.lineNumber(start)],
  })
}

/** Control characters that mark a file as binary, if it is not UTF-8. */
// oxlint-disable-next-line no-control-regex
const controls = /[\u0000-\u0008\u000B\u000E-\u001A\u001C-\u001F]/u

const isUtf16 = ([first, second]: Buffer): boolean =>
  (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)

// oxlint-disable-next-line no-control-regex
const isAscii = (text: string): boolean => /^[\0-\x7F]*$/u.test(text)

function foreign(edit: number, state: string): EditProblem {
  return new EditProblem({
    kind: 'encoding',
    edit,
    reason: `cannot be made: the file ${state}`,
    remedy: 'convert the file to UTF-8 with a command first',
  })
}
