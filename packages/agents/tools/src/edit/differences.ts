const shownDifferences = 3
const shownCharacters = 160
const shownBefore = 60

export function describeDifferences(passage: readonly string[], wanted: readonly string[], first: number): string {
  const clauses = wanted.flatMap((line, index) => {
    const own = passage[index]
    if (own === line || (own === undefined && index > passage.length)) return []
    const number = first + index + 1
    if (own === undefined)
      return [`the passage ends before line ${number}, and \`old\` has \`${visible(line, 0)}\` there`]
    const at = sharedLength(own, line)
    return [`line ${number} is \`${visible(own, at)}\`, and \`old\` has \`${visible(line, at)}\``]
  })
  if (clauses.length === 0) {
    return passage.some((line) => line.includes('\uFFFD'))
      ? 'it has bytes that are not UTF-8, which no text matches: leave them out'
      : 'the passage begins or ends in the middle of a line'
  }
  const rest = clauses.length - shownDifferences
  return [
    ...clauses.slice(0, shownDifferences),
    ...(rest > 0 ? [`${rest} more line${rest === 1 ? '' : 's'} differ${rest === 1 ? 's' : ''}`] : []),
  ].join('; ')
}

function sharedLength(left: string, right: string): number {
  let same = 0
  while (same < left.length && same < right.length && left[same] === right[same]) same += 1
  return same
}

function visible(line: string, at: number): string {
  const from = line.length <= shownCharacters ? 0 : Math.max(at - shownBefore, 0)
  const cut = line.slice(from, from + shownCharacters)
  const text = cut
    .replaceAll('\t', '\\t')
    .replaceAll(/[^\u0020-\u007E]/gu, (character) =>
      /\p{L}|\p{N}/u.test(character) ? character : `\\u{${character.codePointAt(0)?.toString(16)}}`,
    )
    .replaceAll(/^ +| +$/gu, (blanks) => '·'.repeat(blanks.length))
  return `${from > 0 ? '…' : ''}${text}${from + cut.length < line.length ? '…' : ''}`
}
