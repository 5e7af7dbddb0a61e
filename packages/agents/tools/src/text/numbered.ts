import { inLine } from './frame.ts'

export const longestLine = 2000

export interface NumberedLine {
  readonly text: string
  readonly cut: number
}

/** Cuts a long line, never within a character. */
export function clipLine(line: string): NumberedLine {
  if (line.length <= longestLine) return { text: line, cut: 0 }
  const code = line.charCodeAt(longestLine - 1)
  const end = code >= 0xd800 && code < 0xdc00 ? longestLine - 1 : longestLine
  return { text: line.slice(0, end), cut: line.length - end }
}

/** Line numbers as models know them: six places, then a tab. */
export function numberLine(number: number, text: string): string {
  return `${String(number).padStart(6)}\t${inLine(text)}`
}

export function count(amount: number, word: string): string {
  return `${amount} ${word}${amount === 1 ? '' : word.endsWith('y') ? '' : 's'}`
}
