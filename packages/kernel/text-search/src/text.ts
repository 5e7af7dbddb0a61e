/** Maximum number of Unicode code points shown of a matching line. */
export const maxLineCharacters = 2000

/** Number of characters shown before the match, in a longer line. */
const charactersBefore = 500

/** Returns up to {@link maxLineCharacters} of a line around an index. `start`: the index of the first shown character. */
export function windowOf(line: string, index: number): { readonly text: string; readonly start: number } {
  if (line.length <= maxLineCharacters) return { text: line, start: 0 }
  let start = index < maxLineCharacters - charactersBefore ? 0 : index - charactersBefore
  if (start > 0 && isPair(line, start - 1)) start -= 1
  let units = start
  for (let characters = 0; characters < maxLineCharacters && units < line.length; characters += 1) {
    units += isPair(line, units) ? 2 : 1
  }
  return { text: line.slice(start, units), start }
}

/** Returns the column of a UTF-16 index, in Unicode code points from 1. */
export function columnAt(line: string, index: number): number {
  // Uses the regex engine, because a loop over a long line would block the event loop.
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
