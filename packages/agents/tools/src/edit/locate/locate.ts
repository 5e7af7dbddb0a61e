import type { Block } from '../block.ts'
import { nearestPassage } from '../nearest.ts'
import type { Source } from '../source.ts'
import { EditProblem, type MatchKind } from '../types.ts'
import { findPlaces } from './find-places.ts'
import type { BlockRange, Places } from './place.ts'

export interface Located {
  readonly match: MatchKind
  readonly places: readonly BlockRange[]
}

interface LocateOptions {
  readonly all: boolean
  readonly edit: number
  /** Match at the start of the text only. */
  readonly isAtStart: boolean
}

const shownLines = 10

export function locate(source: Source, block: Block, { all, edit, isAtStart }: LocateOptions): Located {
  const accepts = isAtStart ? ({ start }: BlockRange) => start === 0 : undefined
  const found = findPlaces(source, block, { all, accepts })
  if (found === undefined || found.places.length === 0) {
    const nearest = nearestPassage(source, block.old)
    const remedy = 'read the file, and copy the text exactly'
    throw new EditProblem({ kind: 'missing', edit, reason: 'was not found', remedy, nearest })
  }
  const { match, places, isMore } = found
  const isExact = match === 'exact'
  if (!isMore && (places.length === 1 || (all && isExact))) return { match, places }
  const { times, lines } = countPlaces(source, found)
  throw new EditProblem({
    kind: 'several',
    edit,
    reason: `was found ${times}`,
    remedy: all && isExact ? 'replace longer parts of it, or write the file anew' : remedyFor(isExact),
    count: places.length,
    lines,
  })
}

export function countPlaces(
  source: Source,
  { places, isMore }: Places,
): { readonly times: string; readonly lines: readonly number[] } {
  const lines = places.slice(0, shownLines).map(({ start }) => source.lineNumber(start))
  const shown = lines.length < places.length || isMore ? [...lines, '…'] : lines
  const times = `${isMore ? 'more than ' : ''}${places.length.toLocaleString('en')} times (lines ${shown.join(', ')})`
  return { times, lines }
}

function remedyFor(isExact: boolean): string {
  return `add lines around it so that it is unique${isExact ? ', or pass `all`' : ', copied exactly from the file'}`
}
