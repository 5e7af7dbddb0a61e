import { quotePath } from '@ws/core'
import type { VirtualPath } from '@ws/core'

import { ToolProblem } from '../answers/problem.ts'
import { applyEdits } from '../edit/apply-edits.ts'
import { fenced } from '../text/frame.ts'
import { EditProblem, type MatchKind, type TextEdit } from '../edit/types.ts'

export type Edit = TextEdit

export interface Replaced {
  readonly content: Uint8Array
  readonly lines: readonly number[]
  readonly matches: readonly MatchKind[]
}

/** Finds all edits in the original content. @throws ToolProblem for a missing text, or, without `all`, for a repeated text [PC23] */
export function replaceText(path: VirtualPath, bytes: Uint8Array, edits: readonly Edit[]): Replaced {
  try {
    const { content, replacements } = applyEdits(bytes, edits)
    return {
      content,
      lines: replacements.map(({ line }) => line),
      matches: [...new Set(replacements.map(({ match }) => match))],
    }
  } catch (error) {
    if (error instanceof EditProblem) throw problemOf(path, error, edits)
    throw error
  }
}

function problemOf(path: VirtualPath, { details }: EditProblem, edits: readonly Edit[]): ToolProblem {
  const { kind, edit: index, reason, remedy, nearest } = details
  const name = edits.length === 1 ? '`old`' : `\`old\` of edit ${index + 1}`
  const edit = edits[index]
  const sentences: Readonly<Record<typeof kind, string>> = {
    empty: `${name} ${reason}`,
    unchanged: `${name} ${reason}`,
    indent: `${name} ${reason}`,
    missing: `${name} was not found in ${quotePath(path)}`,
    several: `${name} ${reason.replace('times', `times in ${quotePath(path)}`)}`,
    overlap: `edit ${index + 1} ${reason}`,
    encoding: `edit ${index + 1} of ${quotePath(path)} ${reason}`,
  }
  const all = remedy.includes('`all`') && edits.length === 1 && edit !== undefined
  return new ToolProblem({
    sentence: sentences[kind],
    remedy: `nothing was changed; ${remedy}`,
    next: all
      ? { operation: 'replace', arguments: { path, old: edit.old, new: edit.new, all: true } }
      : { operation: 'read', arguments: { path } },
    details:
      nearest === undefined
        ? undefined
        : `The nearest passage begins in line ${nearest.line}; ${nearest.difference}:\n${fenced(nearest.text)}`,
    data: { code: 'EINVAL', path },
  })
}
