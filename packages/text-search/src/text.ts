/** Characters (Unicode code points) of a matching line that are shown; the rest is cut off. */
export const maxLineCharacters = 2000

/** The first {@link maxLineCharacters} characters of a line. */
export function cutLine(line: string): string {
  if (line.length <= maxLineCharacters) return line
  let units = 0
  for (let characters = 0; characters < maxLineCharacters && units < line.length; characters += 1) {
    units += isPair(line, units) ? 2 : 1
  }
  return line.slice(0, units)
}

/** The column, in characters (Unicode code points) from 1, of an index in UTF-16 units. */
export function columnAt(line: string, index: number): number {
  // Found by the engine: a loop over a long line would hold the event loop.
  const firstPair = line.search(leadSurrogate)
  if (firstPair < 0 || firstPair >= index) return index + 1
  let column = firstPair + 1
  for (let units = firstPair; units < index; units += isPair(line, units) ? 2 : 1) column += 1
  return column
}

const leadSurrogate = /[\ud800-\udbff]/

function isPair(text: string, index: number): boolean {
  const first = text.charCodeAt(index)
  if (first < 0xd800 || first > 0xdbff) return false
  const second = text.charCodeAt(index + 1)
  return second >= 0xdc00 && second <= 0xdfff
}
