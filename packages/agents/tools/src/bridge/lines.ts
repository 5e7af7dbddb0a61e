export interface LineWindowOptions {
  readonly offset?: number | undefined
  readonly limit?: number | undefined
}

export interface LineWindow {
  /** The lines with their line ends, byte for byte. */
  readonly text: string
  /** The first line, from 1. For an offset after the end, the number of lines plus one. */
  readonly startLine: number
  /** The last line, from 1; one less than {@link startLine} in an empty window. */
  readonly endLine: number
  /** Number of lines in the text. A last line without a line end counts. Nothing is counted after a last line end. */
  readonly totalLines: number
  /** The offset of the next window. Absent at the end of the text. */
  readonly nextOffset?: number | undefined
}

/** Takes lines out of a text. Lines end with LF; a CR before the LF belongs to its line. */
export function lineWindow(text: string, { offset = 0, limit = Infinity }: LineWindowOptions = {}): LineWindow {
  let line = 0
  let start = text.length
  let end = text.length
  for (let at = 0; at < text.length; line += 1) {
    if (line === offset) start = at
    if (line === offset + limit) end = at
    const next = text.indexOf('\n', at)
    at = next === -1 ? text.length : next + 1
  }
  const first = Math.min(offset, line)
  const last = Math.min(offset + limit, line)
  return {
    text: text.slice(start, Math.max(start, end)),
    startLine: first + 1,
    endLine: Math.max(first, last),
    totalLines: line,
    ...(last < line && { nextOffset: last }),
  }
}
