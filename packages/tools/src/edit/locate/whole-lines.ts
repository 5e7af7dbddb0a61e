import { indentEnd, linesOf, trimmedEnd, type Line } from './lines.ts'

/** Whole lines of a view that match, and how their indent differs. */
export interface LinesPlace {
  readonly start: number
  /** Behind the last LF, where the text that was looked for ends in one and the content has it. */
  readonly end: number
  /** The text ended in a line end, and the content does not. */
  readonly lacksFinalLf: boolean
  /** For `indent`: the blanks that take the place of those in the text. */
  readonly shift?: { readonly from: string; readonly to: string } | undefined
}

/** The text of an edit as lines. */
export interface WantedLines {
  readonly bytes: Buffer
  readonly lines: readonly Line[]
  readonly endsInLf: boolean
}

/** `undefined` for a text of blanks only, which would match any blank line. */
export function wantedLines(text: string): WantedLines | undefined {
  if (text.trim() === '') return undefined
  const bytes = Buffer.from(text)
  return { bytes, lines: linesOf(bytes), endsInLf: text.endsWith('\n') }
}

/** Tries every line of the content as the first one. */
function search(
  content: Buffer,
  lines: readonly Line[],
  wanted: WantedLines,
  match: (first: number) => LinesPlace['shift'] | boolean,
): LinesPlace[] {
  const places: LinesPlace[] = []
  const { length } = wanted.lines
  for (let first = 0; first + length <= lines.length; first++) {
    const found = match(first)
    if (found === false || found === undefined) continue
    const { start } = lines[first] as Line
    const { end } = lines[first + length - 1] as Line
    const hasLf = end < content.length
    places.push({
      start,
      end: wanted.endsInLf && hasLf ? end + 1 : end,
      lacksFinalLf: wanted.endsInLf && !hasLf,
      shift: found === true ? undefined : found,
    })
  }
  return places
}

/** Whole lines that are equal but for blanks at their ends, and for a line end at the end of the content. */
export function trailingPlaces(content: Buffer, lines: readonly Line[], wanted: WantedLines): LinesPlace[] {
  const same = (own: Line, other: Line): boolean =>
    equal(content, own.start, trimmedEnd(content, own), wanted.bytes, other.start, trimmedEnd(wanted.bytes, other))
  return search(content, lines, wanted, (first) =>
    wanted.lines.every((line, index) => same(lines[first + index] as Line, line)),
  )
}

/** Whole lines that are equal but for one indent, which all of them have more or less than the text. */
export function indentPlaces(content: Buffer, lines: readonly Line[], wanted: WantedLines): LinesPlace[] {
  const from = commonIndent(wanted.bytes, wanted.lines)
  return search(content, lines, wanted, (first) => {
    const own = lines.slice(first, first + wanted.lines.length)
    // the first line decides soonest: behind its indent it must be the same
    const [line, other] = [own[0] as Line, wanted.lines[0] as Line]
    if (!sameBehind(content, line, indentEnd(content, line), wanted.bytes, other, indentEnd(wanted.bytes, other)))
      return false
    const to = commonIndent(content, own)
    const fits = own.every((mine, index) => {
      const theirs = wanted.lines[index] as Line
      if (isBlank(content, mine) && isBlank(wanted.bytes, theirs)) return true
      return sameBehind(content, mine, mine.start + to.length, wanted.bytes, theirs, theirs.start + from.length)
    })
    return fits && { from, to }
  })
}

/** The new lines with the indent of the place; `undefined` for one that lies left of the text that was replaced. */
export function shiftIndent(
  text: string,
  { from, to }: { readonly from: string; readonly to: string },
): string | undefined {
  const shifted: string[] = []
  for (const line of text.split('\n')) {
    if (line.trim() === '') shifted.push(line)
    else if (line.startsWith(from)) shifted.push(to + line.slice(from.length))
    else return undefined
  }
  return shifted.join('\n')
}

/** The blanks that all lines but blank ones begin with. */
function commonIndent(bytes: Buffer, lines: readonly Line[]): string {
  let common: string | undefined
  for (const line of lines) {
    if (isBlank(bytes, line)) continue
    const indent = bytes.toString('latin1', line.start, indentEnd(bytes, line))
    if (common === undefined) common = indent
    let length = 0
    while (length < common.length && common[length] === indent[length]) length += 1
    common = common.slice(0, length)
  }
  return common ?? ''
}

const isBlank = (bytes: Buffer, line: Line): boolean => indentEnd(bytes, line) === line.end

function sameBehind(left: Buffer, own: Line, from: number, right: Buffer, other: Line, otherFrom: number): boolean {
  return equal(left, from, trimmedEnd(left, own), right, otherFrom, trimmedEnd(right, other))
}

function equal(left: Buffer, start: number, end: number, right: Buffer, otherStart: number, otherEnd: number): boolean {
  if (end - start !== otherEnd - otherStart || end < start) return false
  return left.compare(right, otherStart, otherEnd, start, end) === 0
}
