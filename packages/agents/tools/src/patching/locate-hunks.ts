import type { Block } from '../edit/block.ts'
import { findPlaces } from '../edit/locate/find-places.ts'
import { indentEnd, trimmedEnd } from '../edit/locate/indent.ts'
import { countPlaces } from '../edit/locate/locate.ts'
import type { BlockRange, Places } from '../edit/locate/place.ts'
import { nearestPassage } from '../edit/nearest.ts'
import type { Source } from '../edit/source.ts'
import type { MatchKind } from '../edit/types.ts'
import { PatchProblem } from './hunks.ts'
import type { Hunk } from './hunks.ts'

interface Range {
  readonly from: number
  readonly to?: number | undefined
  readonly atEnd: boolean
}

export interface LocatedHunk {
  readonly block: Block
  readonly place: BlockRange
  readonly match: MatchKind
}

/**
 * Finds hunks in order, as V4A does: each hunk at the next place after its anchors and after the previous hunk.
 * Stricter than V4A: each anchor must be found, and hunks out of order or without anchor must match exactly once [PC23].
 */
export class HunkLocator {
  readonly #source: Source
  #next = 0
  /** The line after the last change of the previous hunk. A hunk may repeat the context below that change. */
  #free = 0
  #isInOrder = true
  #count = 0

  constructor(source: Source) {
    this.#source = source
  }

  /** @throws PatchProblem where the hunk is missing or ambiguous */
  locate(hunk: Hunk): LocatedHunk {
    this.#count += 1
    const name = `hunk ${this.#count}`
    const isLed = this.#isInOrder && (this.#count > 1 || hunk.anchors.length > 0)
    const next = isLed ? this.#locateNext(hunk, name) : undefined
    const located = next ?? this.#locateOnly(hunk, name)
    this.#isInOrder &&= next !== undefined || this.#count === 1
    const first = this.#source.lineNumber(located.place.start) - 1
    this.#next = first + located.block.lines.length
    this.#free = first + (located.block.changes.at(-1)?.to ?? located.block.lines.length)
    return located
  }

  #locateNext({ anchors, ...hunk }: Hunk, name: string): LocatedHunk | undefined {
    const source = this.#source
    let anchor: number | undefined
    for (const [index, text] of anchors.entries()) {
      // Skip an anchor above the last match, unless a further anchor follows it.
      if (index === 0 && this.#isPassed(text)) continue
      anchor = nextLine(source, text, anchor === undefined ? this.#next : anchor + 1)
      if (anchor === undefined) return undefined
    }
    const below = anchor === undefined ? this.#next : anchor + 1
    const from = anchor ?? this.#free
    for (const { old, block } of formsOf(hunk)) {
      if (old.length === 0) {
        return anchor === undefined ? undefined : { block, place: placeBelow(source, anchor), match: 'exact' }
      }
      const start = source.line(below).start
      const found = this.#find(block, { from: start, atEnd: hunk.atEnd })
      const repeated = this.#find(block, { from: source.line(from).start, to: start, atEnd: hunk.atEnd })
      if (found !== undefined && repeated !== undefined) {
        const { times } = countPlaces(source, { ...found, places: [...repeated.places, ...found.places] })
        const what = anchor === undefined ? 'the hunk before' : 'its `@@`'
        throw new PatchProblem(
          `the lines of ${name} were found ${times}, the first in lines of ${what}; leave those out`,
        )
      }
      const [place] = (found ?? repeated)?.places ?? []
      const match = (found ?? repeated)?.match
      if (place !== undefined && match !== undefined) return { block, place, match }
    }
    return undefined
  }

  #locateOnly({ anchors, ...hunk }: Hunk, name: string): LocatedHunk {
    const source = this.#source
    let anchor: number | undefined
    for (const text of anchors) anchor = onlyLine(source, text, (anchor ?? -1) + 1, name)
    const from = anchor === undefined ? 0 : source.line(anchor).start
    for (const { old, block } of formsOf(hunk)) {
      if (old.length === 0) return { block, place: insertionPlace(source, anchor, hunk.atEnd, name), match: 'exact' }
      const found = this.#find(block, { from, atEnd: hunk.atEnd })
      const [place] = found?.places ?? []
      if (found === undefined || place === undefined) continue
      if (found.places.length === 1 && !found.isMore) return { block, place, match: found.match }
      const below = anchors.length > 0 ? ' below its `@@`' : ''
      throw new PatchProblem(
        `the lines of ${name} were found ${countPlaces(source, found).times}${below}; add lines around them`,
      )
    }
    const where = `${anchors.length > 0 ? ' below its `@@`' : ''}${hunk.atEnd ? ' at the end of the file' : ''}`
    const nearest = nearestPassage(source, hunk.old.join(''))
    throw new PatchProblem(
      `the lines of ${name} were not found${where}: \`${shorten(hunk.old[0])}\` …`,
      nearest && `The nearest passage begins in line ${nearest.line}; ${nearest.difference}:\n${nearest.text}`,
    )
  }

  #find(block: Block, { from, to = Infinity, atEnd }: Range): Places | undefined {
    if (to <= from) return undefined
    const { length } = this.#source.text
    const accepts = ({ start, end }: BlockRange): boolean => start >= from && start < to && (!atEnd || end === length)
    return findPlaces(this.#source, block, { accepts })
  }

  #isPassed(anchor: string): boolean {
    const passed = nextLine(this.#source, anchor, 0)
    return passed !== undefined && passed < this.#next
  }
}

/** The hunk, then shorter forms without its trailing blank lines: models leave such lines between files. */
function* formsOf(hunk: Omit<Hunk, 'anchors'>): Generator<{ readonly old: readonly string[]; readonly block: Block }> {
  const { changes } = hunk
  for (let { old } = hunk; ; old = old.slice(0, -1)) {
    yield {
      old,
      block: { old: old.join(''), lines: old, changes, wholeLines: true, isOpen: false, lineEnd: '\n' },
    }
    const isContext = changes.every(({ to }) => to < old.length)
    if (old.at(-1)?.trim() !== '' || !isContext) return
  }
}

function insertionPlace(source: Source, anchor: number | undefined, atEnd: boolean, name: string): BlockRange {
  const { length } = source.text
  if (anchor !== undefined && !atEnd) return placeBelow(source, anchor)
  if (!atEnd && length > 0) throw new PatchProblem(`${name} only adds lines, and nothing says where`)
  return { start: length, end: length, lacksFinalLf: source.isOpen }
}

function placeBelow(source: Source, anchor: number): BlockRange {
  const { length } = source.text
  const start = anchor + 1 >= source.lineCount ? length : source.line(anchor + 1).start
  return { start, end: start, lacksFinalLf: start === length && source.isOpen }
}

/** The next line, from `first` on, with the text of an anchor. An exact match wins over a match that ignores outer blanks. */
function nextLine(source: Source, anchor: string, first: number): number | undefined {
  let trimmed: number | undefined
  for (const index of linesOf(source, anchor, first)) {
    const { start, end } = source.line(index)
    if (source.text.toString('utf8', start, end) === anchor) return index
    trimmed ??= index
  }
  return trimmed
}

function onlyLine(source: Source, anchor: string, first: number, name: string): number {
  const places: BlockRange[] = []
  let found = first
  for (const index of linesOf(source, anchor, first)) {
    if (places.length === 0) found = index
    places.push({ ...source.line(index), lacksFinalLf: false })
  }
  if (places.length === 1) return found
  const subject = `the line behind \`@@\` of ${name}`
  if (places.length === 0) throw new PatchProblem(`${subject} was not found: \`${shorten(anchor)}\``)
  const { times } = countPlaces(source, { match: 'exact', places, isMore: false })
  throw new PatchProblem(`${subject} was found ${times}: \`${shorten(anchor)}\``)
}

function* linesOf(source: Source, anchor: string, first: number): Generator<number> {
  const wanted = Buffer.from(anchor.trim())
  for (let index = first; index < source.lineCount; index += 1) {
    const line = source.line(index)
    const [start, end] = [indentEnd(source.text, line), trimmedEnd(source.text, line)]
    if (end - start === wanted.length && wanted.compare(source.text, start, end) === 0) yield index
  }
}

const shorten = (line = ''): string => line.replace(/\n$/u, '').slice(0, 80)
