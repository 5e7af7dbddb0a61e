import { nearestPassage } from '../nearest.ts'
import { EditProblem, type MatchKind, type TextEdit } from '../types.ts'
import { exactPlaces, type Place } from './exact.ts'
import { toLf, type LfView } from './lf-view.ts'
import { lineNumber, linesOf } from './lines.ts'
import { lookalikePlaces } from './lookalike.ts'
import { narrow, type Texts } from './narrow.ts'
import { indentPlaces, shiftIndent, trailingPlaces, wantedLines } from './whole-lines.ts'

/** A place in the view, and the text that comes there, with LF. */
export interface Located extends Place {
  readonly match: MatchKind
  readonly newText: string
}

/**
 * Finds the places of an edit in a view. Of the four ways, the first that finds anything decides.
 *
 * @throws EditProblem where it finds no place, or several without `all`
 */
export function locate({ bytes }: LfView, edit: TextEdit, index: number): Located[] {
  const old = toLf(edit.old)
  const newText = toLf(edit.new)
  if (old === '') throw new EditProblem({ kind: 'empty', edit: index, ...words.empty })
  if (old === newText) throw new EditProblem({ kind: 'unchanged', edit: index, ...words.unchanged })
  const found = find(bytes, old, newText, edit.all === true)
  if (found.length === 0) {
    throw new EditProblem({ kind: 'missing', edit: index, ...words.missing, nearest: nearestPassage(bytes, old) })
  }
  if (found.length > 1 && !(edit.all === true && found[0]?.match === 'exact')) {
    const lines = found.slice(0, 10).map((place) => lineNumber(bytes, place.start))
    throw new EditProblem({
      kind: 'several',
      edit: index,
      reason: `was found ${found.length} times (lines ${lines.join(', ')}${found.length > 10 ? ', …' : ''})`,
      remedy: `add lines around it so that it is unique${found[0]?.match === 'exact' ? ', or pass `all`' : ''}`,
      count: found.length,
      lines,
    })
  }
  return found
}

function find(bytes: Buffer, old: string, newText: string, all: boolean): Located[] {
  const narrowed = (match: MatchKind, place: Place, texts: Partial<Texts> = {}): Located[] => {
    const found = narrow(bytes, place, { old, new: newText, ...texts })
    return found === undefined ? [] : [{ ...found, match }]
  }
  const exact = exactPlaces(bytes, old, all)
  if (exact.length > 0) return exact.flatMap((place) => narrowed('exact', place))
  const wanted = wantedLines(old)
  const lines = wanted === undefined ? [] : linesOf(bytes)
  if (wanted !== undefined) {
    const trailing = trailingPlaces(bytes, lines, wanted)
    if (trailing.length > 0) {
      return trailing.flatMap((place) => narrowed('trailing', place, place.lacksFinalLf ? withoutLf(old, newText) : {}))
    }
  }
  const lookalike = lookalikePlaces(bytes, old)
  if (lookalike.length > 0) return lookalike.flatMap((place) => narrowed('lookalike', place))
  if (wanted === undefined) return []
  return indentPlaces(bytes, lines, wanted).flatMap((place) => {
    const { shift, lacksFinalLf } = place
    if (shift === undefined) return []
    const texts = lacksFinalLf ? withoutLf(old, newText) : {}
    return narrowed('indent', place, { ...texts, shift: (text) => shiftIndent(text, shift) })
  })
}

/** The content lacks the line end at the end of the texts. */
function withoutLf(old: string, newText: string): Pick<Texts, 'old' | 'new'> {
  return { old: old.slice(0, -1), new: newText.endsWith('\n') ? newText.slice(0, -1) : newText }
}

const words = {
  empty: { reason: 'has an empty `old`', remedy: 'give the text to replace, or write the whole file' },
  unchanged: { reason: 'has the same text as `old` and `new`', remedy: 'give the text as it should be' },
  missing: { reason: 'was not found', remedy: 'read the file, and copy the text exactly' },
} as const
