import type { Block } from '../block.ts'
import type { Line, Source } from '../source.ts'
import { findRuns } from './find-bytes.ts'
import { indentEnd, shiftAt, trimmedEnd } from './indent.ts'
import { toPlain } from './lookalike.ts'
import { mostPlaces, type IndentShift, type BlockRange, type Places } from './place.ts'

/** Limit of line comparisons for one indent. */
const mostCompared = 5_000_000

type KeyOf = (bytes: Buffer, line: Line) => string

const keys = {
  exact: (bytes, { start, end }) => bytes.toString('latin1', start, end),
  trailing: (bytes, line) => bytes.toString('latin1', line.start, trimmedEnd(bytes, line)),
  lookalike: (bytes, { start, end }) => toPlain(bytes.toString('utf8', start, end)),
  indent: (bytes, line) => bytes.toString('latin1', indentEnd(bytes, line), trimmedEnd(bytes, line)),
} satisfies Readonly<Record<Places['match'], KeyOf>>

export function linePlaces(
  source: Source,
  block: Block,
  match: Places['match'],
  accepts: (place: BlockRange) => boolean = () => true,
): Places {
  const places: BlockRange[] = []
  if (match === 'lookalike' && !source.isUtf8) return { match, places, isMore: false }
  const wanted = wantedLines(block)
  let compared = 0
  for (const first of findLines(source, wanted, keys[match])) {
    let shift: IndentShift | undefined
    if (match === 'indent') {
      compared += wanted.lines.length
      shift = shiftAt(source, first, wanted)
      if (shift === undefined && compared < mostCompared) continue
    }
    if (compared >= mostCompared) return { match, places, isMore: true }
    const { start } = source.line(first)
    const { end } = source.line(first + wanted.lines.length - 1)
    const hasLf = end < source.text.length
    const endsInLf = !block.isOpen && block.old.endsWith('\n')
    const place = { start, end: endsInLf && hasLf ? end + 1 : end, lacksFinalLf: endsInLf && !hasLf, shift }
    if (!accepts(place)) continue
    if (places.length === mostPlaces) return { match, places, isMore: true }
    places.push(place)
  }
  return { match, places, isMore: false }
}

interface WantedLines {
  readonly bytes: Buffer
  readonly lines: readonly Line[]
}

function wantedLines({ old, lines: texts }: Block): WantedLines {
  const bytes = Buffer.from(old)
  const lines: Line[] = []
  let start = 0
  for (const text of texts) {
    const next = start + Buffer.byteLength(text)
    lines.push({ start, end: Math.min(text.endsWith('\n') ? next - 1 : next, bytes.length) })
    start = next
  }
  return { bytes, lines }
}

function findLines(source: Source, { bytes, lines }: WantedLines, keyOf: KeyOf): Iterable<number> {
  const numbers = new Map<string, number>()
  const wanted = lines.map((line) => {
    const key = keyOf(bytes, line)
    const number = numbers.get(key) ?? numbers.size
    numbers.set(key, number)
    return number
  })
  // longer lines cannot match: each UTF-16 unit takes at most three bytes
  const longest = 3 * numbers.keys().reduce((most, key) => Math.max(most, key.length), 0)
  return findRuns(wanted, source.lineCount, (index) => {
    const line = source.line(index)
    const isLonger = indentEnd(source.text, line) + longest < trimmedEnd(source.text, line)
    return isLonger ? undefined : numbers.get(keyOf(source.text, line))
  })
}
