import { replaceBlocks, type NumberedBlock } from '../edit/apply-edits.ts'
import type { Block } from '../edit/block.ts'
import { checkEncoding } from '../edit/encoding.ts'
import { findPlaces } from '../edit/locate/find-places.ts'
import { indentEnd, trimmedEnd } from '../edit/locate/indent.ts'
import { countPlaces } from '../edit/locate/locate.ts'
import type { Place } from '../edit/locate/place.ts'
import { nearestPassage } from '../edit/nearest.ts'
import { Source } from '../edit/source.ts'
import { EditProblem, type MatchKind } from '../edit/types.ts'
import { PatchProblem } from './hunks.ts'
import type { Hunk } from './hunks.ts'

/**
 * The bytes with all hunks made, by the same ways as an edit. Each must be found at exactly one place: behind its anchors, or
 * in the whole file. All other bytes stay.
 *
 * @throws PatchProblem
 */
export function applyHunks(bytes: Uint8Array, hunks: readonly Hunk[]): Uint8Array {
  const source = new Source(bytes)
  try {
    const placed = hunks.map((hunk, edit): NumberedBlock => {
      checkEncoding(source, [...hunk.anchors, ...hunk.old, ...hunk.changes.map(({ text }) => text)], edit)
      const block: Block = {
        old: hunk.old.join(''),
        lines: hunk.old,
        changes: hunk.changes,
        wholeLines: true,
        isOpen: false,
        lineEnd: '\n',
      }
      return { block, edit, ...locate(source, block, hunk, `hunk ${edit + 1}`) }
    })
    return replaceBlocks(source, placed).content
  } catch (error) {
    if (!(error instanceof EditProblem)) throw error
    const { edit, reason, remedy } = error.details
    throw new PatchProblem(`hunk ${edit + 1} ${reason.replace('overlaps edit', 'overlaps hunk')}; ${remedy}`)
  }
}

function locate(
  source: Source,
  block: Block,
  { anchors, old, atEnd }: Hunk,
  name: string,
): { readonly place: Place; readonly match: MatchKind } {
  let anchor: number | undefined
  for (const text of anchors) anchor = findAnchor(source, text, (anchor ?? -1) + 1, name)
  if (old.length === 0) return { place: insertionPlace(source, anchor, atEnd, name), match: 'exact' }
  // the hunk may begin with its anchor
  const from = anchor === undefined ? 0 : source.line(anchor).start
  const found = findPlaces(source, block, {
    accepts: ({ start, end }) => start >= from && (!atEnd || end === source.text.length),
  })
  const [place] = found?.places ?? []
  if (found === undefined || place === undefined) {
    const where = `${anchors.length > 0 ? ' below its `@@`' : ''}${atEnd ? ' at the end of the file' : ''}`
    const nearest = nearestPassage(source, block.old)
    throw new PatchProblem(
      `the lines of ${name} were not found${where}: \`${shorten(old[0])}\` …`,
      nearest && `The nearest passage begins in line ${nearest.line}; ${nearest.difference}:\n${nearest.text}`,
    )
  }
  if (found.places.length > 1 || found.isMore) {
    throw new PatchProblem(
      `the lines of ${name} were found ${countPlaces(source, found).times}${anchors.length > 0 ? ' below its `@@`' : ''}; add lines around them`,
    )
  }
  return { place, match: found.match }
}

function insertionPlace(source: Source, anchor: number | undefined, atEnd: boolean, name: string): Place {
  const { length } = source.text
  if (!atEnd && anchor === undefined && length > 0) {
    throw new PatchProblem(`${name} only adds lines, and nothing says where`)
  }
  const isLast = anchor === undefined || anchor + 1 >= source.lineCount
  const start = atEnd || isLast ? length : source.line(anchor + 1).start
  return { start, end: start, lacksFinalLf: start === length && source.isOpen }
}

/** The index of the one line from `first` on that has the text of an anchor, blanks at both ends aside. */
function findAnchor(source: Source, anchor: string, first: number, name: string): number {
  const wanted = Buffer.from(anchor.trim())
  const places: Place[] = []
  let found = first
  for (let index = first; index < source.lineCount; index += 1) {
    const line = source.line(index)
    const [start, end] = [indentEnd(source.text, line), trimmedEnd(source.text, line)]
    if (end - start !== wanted.length || wanted.compare(source.text, start, end) !== 0) continue
    if (places.length === 0) found = index
    places.push({ ...line, lacksFinalLf: false })
  }
  if (places.length === 1) return found
  const subject = `the line behind \`@@\` of ${name}`
  if (places.length === 0) throw new PatchProblem(`${subject} was not found: \`${shorten(anchor)}\``)
  const { times } = countPlaces(source, { match: 'exact', places, isMore: false })
  throw new PatchProblem(`${subject} was found ${times}: \`${shorten(anchor)}\``)
}

const shorten = (line = ''): string => line.replace(/\n$/u, '').slice(0, 80)
