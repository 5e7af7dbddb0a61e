/** A line of a view: its bytes without the LF. */
export interface Line {
  readonly start: number
  readonly end: number
}

const lf = 10

/** The lines of a buffer. Behind a final LF there is no further line. */
export function linesOf(bytes: Buffer): Line[] {
  const lines: Line[] = []
  let start = 0
  while (start < bytes.length) {
    const found = bytes.indexOf(lf, start)
    const end = found === -1 ? bytes.length : found
    lines.push({ start, end })
    start = end + 1
  }
  return lines
}

const isBlank = (byte: number | undefined): boolean => byte === 32 || byte === 9

/** The end of a line without the blanks at its end. */
export function trimmedEnd(bytes: Buffer, { start, end }: Line): number {
  let last = end
  while (last > start && isBlank(bytes[last - 1])) last -= 1
  return last
}

/** The start of a line behind its indent. */
export function indentEnd(bytes: Buffer, { start, end }: Line): number {
  let first = start
  while (first < end && isBlank(bytes[first])) first += 1
  return first
}

/** The number of the line that an offset lies in, from 1. */
export function lineNumber(bytes: Buffer, offset: number): number {
  let line = 1
  for (let at = bytes.indexOf(lf); at !== -1 && at < offset; at = bytes.indexOf(lf, at + 1)) line += 1
  return line
}
