import { replaceBlocks } from '../edit/apply-edits.ts'
import { checkEncoding } from '../edit/encoding.ts'
import { Source } from '../edit/source.ts'
import { EditProblem } from '../edit/types.ts'
import { PatchProblem } from './hunks.ts'
import type { Hunk } from './hunks.ts'
import { HunkLocator } from './locate-hunks.ts'

interface ApplyOptions {
  /** Accept hunks without a change: the file moves. Default false. */
  readonly mayStay?: boolean | undefined
}

/** Applies all hunks like edits, at the places of {@link HunkLocator}. Other bytes remain. @throws PatchProblem */
export function applyHunks(
  bytes: Uint8Array,
  hunks: readonly Hunk[],
  { mayStay = false }: ApplyOptions = {},
): Uint8Array {
  const source = new Source(bytes)
  const locator = new HunkLocator(source)
  try {
    const placed = hunks.map((hunk, edit) => {
      checkEncoding(source, [...hunk.anchors, ...hunk.old, ...hunk.changes.map(({ text }) => text)], edit)
      return { edit, ...locator.locate(hunk) }
    })
    return replaceBlocks(source, placed, { mayStay }).content
  } catch (error) {
    if (!(error instanceof EditProblem)) throw error
    const { edit, reason, remedy } = error.details
    throw new PatchProblem(`hunk ${edit + 1} ${reason.replace('overlaps edit', 'overlaps hunk')}; ${remedy}`)
  }
}
