import { splitLines, type Block, type LineChange } from './block.ts'
import { shiftIndent } from './locate/indent.ts'
import type { BlockRange } from './locate/place.ts'
import type { Source } from './source.ts'
import type { MatchKind, Span } from './types.ts'

const lf = 10
const mark = '\uFEFF'

export interface PlacedBlock {
  readonly block: Block
  readonly place: BlockRange
  readonly match: MatchKind
}

/** Spans of the lines that differ. A new line takes the line end of the replaced line. `undefined` where indents do not fit. */
export function spansOf(source: Source, { block, place, match }: PlacedBlock): Span[] | undefined {
  const starts = lineStarts(source, place, block.lines.length)
  const spans: Span[] = []
  for (const change of block.changes) {
    const text = place.shift === undefined ? change.text : shiftIndent(change.text, place.shift)
    if (text === undefined) return undefined
    spans.push(spanOf(source, { block, place, match }, { ...change, text }, starts))
  }
  return spans
}

function spanOf(
  source: Source,
  { block, place, match }: PlacedBlock,
  { from, to, text }: LineChange,
  starts: readonly number[],
): Span {
  const startOf = (line: number): number => starts[line] ?? place.end
  // the block's last line has an LF that the file lacks
  const isVirtual = to === block.lines.length && (block.isOpen || place.lacksFinalLf)
  const own = block.lines.slice(from, to).join('')
  const part: Replacement = {
    start: isVirtual && block.isOpen && text === '' && from > 0 ? startOf(from) - 1 : startOf(from),
    end: startOf(to),
    old: isVirtual ? withoutFinalLf(own) : own,
    text: isVirtual ? withoutFinalLf(text) : text,
    keptLines: 0,
  }
  const { start, end, text: changed, keptLines } = match === 'lookalike' ? keepEnds(source, part) : part
  const isBehindOpenLine = isVirtual && from === to && source.text.length > 0
  const lines = isBehindOpenLine ? ['\n', ...splitLines(changed)] : splitLines(changed)
  const endOfLine = (line: number): string => source.lineEndAt(startOf(Math.max(line, 0))) ?? block.lineEnd
  const bytes = lines
    .map((line, index) =>
      line.endsWith('\n') ? `${line.slice(0, -1)}${endOfLine(Math.min(from + keptLines + index, to - 1))}` : line,
    )
    .join('')
  const at = source.toContent(start)
  // a content has at most one byte order mark
  const isSecondMark = source.markBytes > 0 && at === source.markBytes && bytes.startsWith(mark)
  return { start: at, end: source.toContent(end), bytes: Buffer.from(isSecondMark ? bytes.slice(1) : bytes) }
}

interface Replacement {
  readonly start: number
  readonly end: number
  readonly old: string
  readonly text: string
  readonly keptLines: number
}

/** Keeps look-alike characters at both ends that the old and the new text share. */
function keepEnds(source: Source, { start, end, old, text }: Replacement): Replacement {
  const own = source.text.toString('utf8', start, end)
  const most = own.length === old.length ? Math.min(old.length, text.length) : 0
  let head = 0
  while (head < most && old[head] === text[head]) head += 1
  if (isHighSurrogate(old, head - 1)) head -= 1
  let tail = 0
  while (tail < most - head && old[old.length - 1 - tail] === text[text.length - 1 - tail]) tail += 1
  if (tail > 0 && isHighSurrogate(old, old.length - 1 - tail)) tail -= 1
  const kept = old.slice(0, head)
  return {
    start: start + Buffer.byteLength(own.slice(0, head)),
    end: end - Buffer.byteLength(own.slice(own.length - tail)),
    old: old.slice(head, old.length - tail),
    text: text.slice(head, text.length - tail),
    keptLines: kept.split('\n').length - 1,
  }
}

const isHighSurrogate = (text: string, index: number): boolean => /[\uD800-\uDBFF]/u.test(text[index] ?? '')

const withoutFinalLf = (text: string): string => (text.endsWith('\n') ? text.slice(0, -1) : text)

function lineStarts({ text }: Source, { start }: BlockRange, count: number): number[] {
  const starts = [start]
  for (let at = start; starts.length < count; ) {
    at = text.indexOf(lf, at) + 1
    starts.push(at)
  }
  return count === 0 ? [] : starts
}
