import { splitLines } from '../block.ts'
import type { Line, Source } from '../source.ts'
import type { IndentShift } from './place.ts'

export function shiftAt(
  source: Source,
  first: number,
  { bytes, lines }: { readonly bytes: Buffer; readonly lines: readonly Line[] },
): IndentShift | undefined {
  const own = lines.map((_, index) => indentOf(source.text, source.line(first + index)))
  const theirs = lines.map((line) => indentOf(bytes, line))
  const from = commonStart(theirs)
  const to = commonStart(own)
  const isUniform = own.every((indent, index) => indent?.slice(to.length) === theirs[index]?.slice(from.length))
  return isUniform ? { from, to, blanks: own.join('') } : undefined
}

/** The new lines with the indent of the place; `undefined` for a line that would need a negative indent, or mix tabs and spaces. */
export function shiftIndent(text: string, { from, to, blanks }: IndentShift): string | undefined {
  const shifted: string[] = []
  for (const line of splitLines(text)) {
    if (line.trim() === '') {
      shifted.push(line)
      continue
    }
    if (!line.startsWith(from)) return undefined
    const rest = line.slice(from.length)
    const further = /^[ \t]*/u.exec(rest)?.[0] ?? ''
    if (blanks !== '' && [...further].some((blank) => !blanks.includes(blank))) return undefined
    shifted.push(to + rest)
  }
  return shifted.join('')
}

function indentOf(bytes: Buffer, line: Line): string | undefined {
  const end = indentEnd(bytes, line)
  return end === line.end ? undefined : bytes.toString('latin1', line.start, end)
}

function commonStart(indents: readonly (string | undefined)[]): string {
  let common: string | undefined
  for (const indent of indents) {
    if (indent === undefined) continue
    common ??= indent
    let length = 0
    while (length < common.length && common[length] === indent[length]) length += 1
    common = common.slice(0, length)
  }
  return common ?? ''
}

const isBlank = (byte: number | undefined): boolean => byte === 32 || byte === 9

export function trimmedEnd(bytes: Buffer, { start, end }: Line): number {
  let last = end
  while (last > start && isBlank(bytes[last - 1])) last -= 1
  return last
}

export function indentEnd(bytes: Buffer, { start, end }: Line): number {
  let first = start
  while (first < end && isBlank(bytes[first])) first += 1
  return first
}
