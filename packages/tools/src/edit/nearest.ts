import { linesOf } from './locate/lines.ts'
import type { NearestPassage } from './types.ts'

/** Lines of the content that are looked at, and characters of each. */
const maxLines = 50_000
const maxLine = 400
const shownLines = 12
const shownCharacters = 1500

/** The passage that shares most lines with a text, blanks aside; else the line that is most like its first one. */
export function nearestPassage(content: Buffer, text: string): NearestPassage | undefined {
  const lines = linesOf(content)
    .slice(0, maxLines)
    .map(({ start, end }) => content.toString('utf8', start, Math.min(end, start + maxLine)))
  const wanted = text
    .split('\n')
    .slice(0, 200)
    .map((line) => line.slice(0, maxLine))
  const first = byVotes(lines, wanted) ?? byLikeness(lines, wanted)
  if (first === undefined) return undefined
  const passage = lines.slice(first, first + Math.min(wanted.length, shownLines))
  return {
    line: first + 1,
    text: passage.join('\n').slice(0, shownCharacters),
    difference: describeDifference(passage, wanted, first),
  }
}

/** Each line that is found somewhere votes for the place where the text would begin. */
function byVotes(lines: readonly string[], wanted: readonly string[]): number | undefined {
  const at = new Map<string, number[]>()
  for (const [index, line] of wanted.entries()) {
    const key = line.trim()
    if (key.length > 1) at.set(key, [...(at.get(key) ?? []), index])
  }
  const votes = new Map<number, number>()
  for (const [index, line] of lines.entries()) {
    for (const offset of at.get(line.trim()) ?? []) {
      const first = index - offset
      if (first >= 0) votes.set(first, (votes.get(first) ?? 0) + 1)
    }
  }
  let best: number | undefined
  for (const [first, count] of votes) if (best === undefined || count > (votes.get(best) ?? 0)) best = first
  return best
}

function byLikeness(lines: readonly string[], wanted: readonly string[]): number | undefined {
  const index = wanted.findIndex((line) => line.trim().length > 2)
  const pairs = pairsOf(wanted[index] ?? '')
  if (pairs.size === 0) return undefined
  let best: number | undefined
  let most = 0.5
  for (const [at, line] of lines.entries()) {
    const own = pairsOf(line)
    if (own.size === 0 || Math.min(own.size, pairs.size) / Math.max(own.size, pairs.size) < most) continue
    let shared = 0
    for (const pair of own) if (pairs.has(pair)) shared += 1
    const likeness = (2 * shared) / (own.size + pairs.size)
    if (likeness > most) [best, most] = [at, likeness]
  }
  return best === undefined ? undefined : Math.max(best - index, 0)
}

/** Two characters each, which tell lines apart well enough. */
function pairsOf(line: string): Set<string> {
  const text = line.trim()
  const pairs = new Set<string>()
  for (let index = 0; index + 1 < text.length; index++) pairs.add(text.slice(index, index + 2))
  return pairs
}

function describeDifference(passage: readonly string[], wanted: readonly string[], first: number): string {
  const index = wanted.findIndex((line, at) => line !== passage[at])
  if (index === -1) return 'the passage begins or ends in the middle of a line'
  const own = passage[index]
  if (own === undefined) return `the file has no line ${first + index + 1} for \`${visible(wanted[index] ?? '')}\``
  return `line ${first + index + 1} is \`${visible(own)}\`, and \`old\` has \`${visible(wanted[index] ?? '')}\``
}

/** Blanks and look-alike characters are shown, since they are hard to see. */
function visible(line: string): string {
  const cut = line.length > 160 ? `${line.slice(0, 160)}…` : line
  return cut
    .replaceAll('\t', '\\t')
    .replaceAll(/[^\u0020-\u007E…]/gu, (character) =>
      /\p{L}|\p{N}/u.test(character) ? character : `\\u{${character.codePointAt(0)?.toString(16)}}`,
    )
    .replaceAll(/^ +| +$/gu, (blanks) => '·'.repeat(blanks.length))
}
