/** `none`: the text is one line without an ending. */
export type LineEnding = 'lf' | 'crlf' | 'cr' | 'mixed' | 'none'

export function lineEndingOf(text: string): LineEnding {
  let found: LineEnding = 'none'
  let nextLf = text.indexOf('\n')
  let nextCr = text.indexOf('\r')
  while (nextLf !== -1 || nextCr !== -1) {
    const crFirst = nextCr !== -1 && (nextLf === -1 || nextCr < nextLf)
    const ending = crFirst ? (nextLf === nextCr + 1 ? 'crlf' : 'cr') : 'lf'
    if (found !== 'none' && found !== ending) return 'mixed'
    found = ending
    if (ending !== 'lf') nextCr = text.indexOf('\r', nextCr + 1)
    if (ending !== 'cr') nextLf = text.indexOf('\n', nextLf + 1)
  }
  return found
}
