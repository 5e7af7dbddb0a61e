import { inLine } from './frame.ts'

/** Characters (UTF-16 units) of one line that are shown. */
export const longestLine = 2000

export interface NumberedLine {
  readonly text: string
  /** Characters that were left out. */
  readonly cut: number
}

/** A line for a model: cut where it is too long, never within a character. */
export function clipLine(line: string): NumberedLine {
  if (line.length <= longestLine) return { text: line, cut: 0 }
  const code = line.charCodeAt(longestLine - 1)
  const end = code >= 0xd800 && code < 0xdc00 ? longestLine - 1 : longestLine
  return { text: line.slice(0, end), cut: line.length - end }
}

/** The line with its number in front, as models know it: six places, then a tab. */
export function numberLine(number: number, text: string): string {
  return `${String(number).padStart(6)}\t${inLine(text)}`
}

/** `1 line`, `2 lines`. */
export function count(amount: number, word: string): string {
  return `${amount} ${word}${amount === 1 ? '' : word.endsWith('y') ? '' : 's'}`
}
