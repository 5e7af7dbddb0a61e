import { locate, type Located } from './locate/locate.ts'
import { lfView } from './locate/lf-view.ts'
import { lineNumber } from './locate/lines.ts'
import { checkEncoding } from './encoding.ts'
import { spanOf } from './splice.ts'
import { EditProblem, type Replacement, type TextEdit } from './types.ts'

export interface EditedContent {
  readonly content: Uint8Array
  /** In the order of their places. */
  readonly replacements: readonly Replacement[]
}

/**
 * The content with all edits made [FS7, PC23]. Each is found in the content as it was, and all are made, or none. Bytes
 * around them stay as they are: line ends, a byte order mark, a missing final newline, bytes that are not UTF-8.
 *
 * @throws EditProblem that says which edit cannot be made, and why
 */
export function applyEdits(given: Uint8Array, edits: readonly TextEdit[]): EditedContent {
  const content = Buffer.from(given.buffer, given.byteOffset, given.byteLength)
  for (const [index, edit] of edits.entries()) checkEncoding(content, edit, index)
  const view = lfView(content)
  const places = edits.flatMap((edit, index) =>
    locate(view, withoutMark(edit), index).map((place) => ({ ...place, index })),
  )
  return replacePlaces(content, view, places)
}

/** Makes changes at places of the view, which may not overlap. */
export function replacePlaces(
  content: Buffer,
  view: ReturnType<typeof lfView>,
  places: readonly (Located & { readonly index: number })[],
): EditedContent {
  const sorted = places.toSorted((left, right) => left.start - right.start || left.end - right.end)
  for (const [position, place] of sorted.entries()) {
    const before = sorted[position - 1]
    if (before === undefined || before.end <= place.start) continue
    throw new EditProblem({
      kind: 'overlap',
      edit: place.index,
      reason: `overlaps edit ${before.index + 1}`,
      remedy: 'join them into one edit',
      lines: [lineNumber(view.bytes, place.start)],
    })
  }
  const parts: Uint8Array[] = []
  let end = 0
  for (const place of sorted) {
    const span = spanOf(content, view, place)
    parts.push(content.subarray(end, span.start), span.text)
    end = span.end
  }
  parts.push(content.subarray(end))
  const replacements = sorted.map(({ start, match }) => ({ line: lineNumber(view.bytes, start), match }))
  return { content: Buffer.concat(parts), replacements }
}

/** A byte order mark is part of the file, and not of a text. */
function withoutMark(edit: TextEdit): TextEdit {
  if (!edit.old.startsWith('\uFEFF')) return edit
  return { ...edit, old: edit.old.slice(1), new: edit.new.replace(/^\uFEFF/u, '') }
}
