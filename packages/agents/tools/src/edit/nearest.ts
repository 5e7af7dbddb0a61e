import { splitLines } from './block.ts'
import { describeDifferences } from './differences.ts'
import type { Source } from './source.ts'
import type { NearestPassage } from './types.ts'

/** Limits of the lines of the content that are compared, and of the bytes of each line. */
const mostLines = 500_000
const mostBytes = 400
/** Limit of bytes read by the search for a similar line, which is slower than the search for equal lines. */
const mostAlikeBytes = 1_000_000
const mostVotes = 3
const mostWanted = 200
const shownLines = 12
const shownCharacters = 1500

/** The passage that shares most lines with a text, ignoring blanks; else the line most like the text's first line. */
export function nearestPassage(source: Source, text: string): NearestPassage | undefined {
  const count = Math.min(source.lineCount, mostLines)
  const wanted = splitLines(text)
    .slice(0, mostWanted)
    .map((line) => line.replace('\n', ''))
  const first = byVotes(source, count, wanted) ?? byLikeness(source, count, wanted)
  if (first === undefined) return undefined
  const length = Math.min(wanted.length, shownLines, source.lineCount - first)
  const passage = Array.from({ length }, (_, index) => wholeLine(source, first + index))
  return {
    line: first + 1,
    text: passage.join('\n').slice(0, shownCharacters),
    difference: describeDifferences(passage, wanted, first),
  }
}

function shortLine(source: Source, index: number): string {
  const { start, end } = source.line(index)
  return source.text.toString('utf8', start, Math.min(end, start + mostBytes))
}

function wholeLine(source: Source, index: number): string {
  const { start, end } = source.line(index)
  return source.text.toString('utf8', start, Math.min(end, start + 100_000))
}

/** Each line that is found votes for a start of the text. */
function byVotes(source: Source, count: number, wanted: readonly string[]): number | undefined {
  const at = new Map<string, number[]>()
  for (const [index, line] of wanted.entries()) {
    const key = line.slice(0, mostBytes).trim()
    const known = at.get(key) ?? []
    if (key.length > 1 && known.length < mostVotes) at.set(key, [...known, index])
  }
  if (at.size === 0) return undefined
  const votes = new Map<number, number>()
  for (let index = 0; index < count; index += 1) {
    for (const offset of at.get(shortLine(source, index).trim()) ?? []) {
      const first = index - offset
      if (first >= 0) votes.set(first, (votes.get(first) ?? 0) + 1)
    }
  }
  let best: number | undefined
  for (const [first, number] of votes) if (best === undefined || number > (votes.get(best) ?? 0)) best = first
  return best
}

function byLikeness(source: Source, count: number, wanted: readonly string[]): number | undefined {
  const index = wanted.findIndex((line) => line.trim().length > 2)
  const first = (wanted[index] ?? '').slice(0, mostBytes)
  const pairs = pairsOf(first)
  if (pairs.size === 0) return undefined
  let best: number | undefined
  let most = 0.5
  let rest = mostAlikeBytes
  for (let at = 0; at < count && rest > 0; at += 1) {
    const line = shortLine(source, at)
    rest -= line.length + 1
    // a line of less than a third of the characters shares less than a third of the pairs
    if (line.length * 3 < pairs.size) continue
    const own = pairsOf(line)
    if (own.size === 0 || Math.min(own.size, pairs.size) / Math.max(own.size, pairs.size) < most) continue
    let shared = 0
    for (const pair of own) if (pairs.has(pair)) shared += 1
    const likeness = (2 * shared) / (own.size + pairs.size)
    if (likeness > most) [best, most] = [at, likeness]
  }
  return best === undefined ? undefined : Math.max(best - index, 0)
}

/** Pairs of neighbouring characters, to compare lines by. */
function pairsOf(line: string): Set<string> {
  const text = line.trim()
  const pairs = new Set<string>()
  for (let index = 0; index + 1 < text.length; index += 1) pairs.add(text.slice(index, index + 2))
  return pairs
}
