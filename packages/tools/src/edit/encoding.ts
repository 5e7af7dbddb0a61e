import { isUtf8 } from 'node:buffer'

import { EditProblem, type TextEdit } from './types.ts'

/** Where a NUL is looked for: text has none, and UTF-16 has many. */
const headBytes = 8192

/**
 * Refuses an edit that would be found, or written, in another encoding than that of the file. Text of ASCII alone can be
 * changed in a file that is not UTF-8.
 *
 * @throws EditProblem
 */
export function checkEncoding(content: Buffer, { old, new: text }: TextEdit, edit: number): void {
  if (!text.isWellFormed() || !old.isWellFormed()) {
    throw new EditProblem({
      kind: 'encoding',
      edit,
      reason: 'holds a lone surrogate, which no file can hold as text',
      remedy: 'give whole characters',
    })
  }
  if (content.subarray(0, headBytes).includes(0)) throw foreign(edit, 'is not text, or is UTF-16')
  if (isAscii(old) && isAscii(text)) return
  if (!isUtf8(content)) throw foreign(edit, 'is not UTF-8, and the edit is not ASCII alone')
}

const isAscii = (text: string): boolean => /^[\0-\x7F]*$/u.test(text)

function foreign(edit: number, state: string): EditProblem {
  return new EditProblem({
    kind: 'encoding',
    edit,
    reason: `cannot be made: the file ${state}`,
    remedy: 'convert the file to UTF-8 with a command first',
  })
}
