import { blockOf, type Block } from './block.ts'
import { checkEncoding, checkPlace } from './encoding.ts'
import { locate } from './locate/locate.ts'
import { Source } from './source.ts'
import { spansOf, type PlacedBlock } from './splice.ts'
import { EditProblem, type Replacement, type Span, type TextEdit } from './types.ts'

export interface EditedContent {
  readonly content: Uint8Array
  readonly replacements: readonly Replacement[]
}

export interface NumberedBlock extends PlacedBlock {
  /** The index of the edit, from 0. */
  readonly edit: number
}

/**
 * Applies all edits or none [FS7, PC23], each located in the original content. All other bytes remain. @throws EditProblem
 * Lines that are equal in `old` and `text` stay too. Insertions at one place keep the order of the list.
 */
export function applyEdits(given: Uint8Array, edits: readonly TextEdit[]): EditedContent {
  const source = new Source(given)
  const placed = edits.flatMap((one, edit): NumberedBlock[] => {
    const { block, isAtStart } = checkedBlock(source, one, edit)
    const { match, places } = locate(source, block, { all: one.all === true, edit, isAtStart })
    return places.map((place) => ({ block, place, match, edit }))
  })
  return replaceBlocks(source, placed)
}

function checkedBlock(source: Source, given: TextEdit, edit: number): { block: Block; isAtStart: boolean } {
  if (given.old === '') throw new EditProblem({ kind: 'empty', edit, ...words.empty })
  checkEncoding(source, [given.old, given.new], edit)
  // a byte order mark is part of the file, not of its text
  const isAtStart = source.markBytes > 0 && given.old.startsWith('\uFEFF') && given.old.length > 1
  const old = source.toLf(isAtStart ? given.old.slice(1) : given.old)
  const text = source.toLf(isAtStart ? given.new.replace(/^\uFEFF/u, '') : given.new)
  if (old === text) throw new EditProblem({ kind: 'unchanged', edit, ...words.same })
  return { block: blockOf(old, text, given.new.includes('\r\n') ? '\r\n' : '\n'), isAtStart }
}

interface NumberedSpan extends Span {
  readonly edit: number
  readonly block: number
}

interface ReplaceOptions {
  readonly mayStay?: boolean | undefined
}

export function replaceBlocks(
  source: Source,
  placed: readonly NumberedBlock[],
  { mayStay = false }: ReplaceOptions = {},
): EditedContent {
  const { content } = source
  const spans = placed.flatMap((one): NumberedSpan[] => {
    checkPlace(source, one.place, one.edit)
    const own = spansOf(source, one)
    if (own === undefined) throw new EditProblem({ kind: 'indent', edit: one.edit, ...words.indent })
    return own.map((span) => ({ ...span, edit: one.edit, block: one.place.start }))
  })
  // insertions come before a change at the same place; the stable sort keeps the order of the list
  spans.sort((left, right) => left.start - right.start || left.end - right.end)
  const parts: Uint8Array[] = []
  let isChanged = false
  let end = 0
  for (const [index, span] of spans.entries()) {
    if (span.start < end) throw overlap(source, spans[index - 1], span)
    isChanged ||= !content.subarray(span.start, span.end).equals(span.bytes)
    parts.push(content.subarray(end, span.start), span.bytes)
    end = span.end
  }
  const [first] = placed
  if (!isChanged && !mayStay && first !== undefined)
    throw new EditProblem({ kind: 'unchanged', edit: first.edit, ...words.there })
  parts.push(content.subarray(end))
  const replacements = placed
    .toSorted(({ place: left }, { place: right }) => left.start - right.start)
    .map(({ block, place, match }) => ({
      line: source.lineNumber(place.start) + (block.changes[0]?.from ?? 0),
      match,
    }))
  return { content: Buffer.concat(parts), replacements }
}

function overlap(source: Source, before: NumberedSpan | undefined, { block, edit }: NumberedSpan): EditProblem {
  return new EditProblem({
    kind: 'overlap',
    edit,
    reason: `overlaps edit ${(before?.edit ?? edit) + 1}`,
    remedy: 'join them into one edit',
    lines: [source.lineNumber(block)],
  })
}

const words = {
  empty: { reason: 'is empty', remedy: 'give the text to replace, or write the whole file' },
  same: { reason: 'and the new text are the same', remedy: 'give the text as it should be' },
  there: { reason: 'has the new text at its place already', remedy: 'read the file again' },
  indent: {
    reason: 'was found with another indent, which the new lines cannot take',
    remedy: 'copy the text with its indent from the file, and use the same tabs or spaces',
  },
} as const
