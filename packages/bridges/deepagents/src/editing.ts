import type { Workspace } from '@ws/core'
import { createTools } from '@ws/tools'
import type { ToolAnswer, Toolset } from '@ws/tools'
import type { BackendProtocolV2, EditResult } from 'deepagents'

import { orFault } from './errors.ts'
import { decodeText } from './kinds.ts'

/**
 * Edits with the engine of `@ws/tools`, which also finds texts that differ in blanks, line ends, look-alike characters or indent.
 * Two edits of a file at the same time both take effect.
 */
export function createEdit(
  workspace: Workspace,
  toolset: Pick<Toolset, 'run'> = createTools(workspace, { face: 'split', downloads: false }),
): BackendProtocolV2['edit'] {
  return (path, oldString, newString, replaceAll = false) =>
    orFault(path, async (): Promise<EditResult> => {
      // resolve the path here, since the tools give `/workspace` a special meaning
      const target = await workspace.realPath(path)
      const { bytes, stat } = await workspace.read(target)
      const count = occurrencesOf(oldString, decodeText(bytes) ?? '')
      if (oldString === newString && count > 0 && (replaceAll || count === 1)) {
        return { path, filesUpdate: null, occurrences: count, metadata: { version: stat.version } }
      }
      const answer = await toolset.run('replace', { path: target, old: oldString, new: newString, all: replaceAll })
      if (answer.isError) return { error: `${reasonOf(count, replaceAll)}${wordsFor(answer)}` }
      const { replacements = 0, version } = answer.data ?? {}
      return { path, filesUpdate: null, occurrences: Number(replacements), metadata: { version, diff: answer.text } }
    })
}

function occurrencesOf(text: string, content: string): number {
  return text === '' ? 0 : content.split(text).length - 1
}

/** deepagents' own sentence for several matches; an empty text in other cases. */
function reasonOf(count: number, replaceAll: boolean): string {
  return count > 1 && !replaceAll ? `Multiple occurrences found (${count}). ` : ''
}

const names: Readonly<Record<string, string>> = { old: 'old_string', new: 'new_string', all: 'replace_all' }

/** Rewords an answer for deepagents. Omits the suggested next call, which names tools of another toolset. */
export function wordsFor({ text, next, isError }: ToolAnswer): string {
  // the next call is the last line of an error answer
  const own = next === undefined || !isError ? text : text.slice(0, text.lastIndexOf('\nNext: '))
  return own.replaceAll(/`(old|new|all)`/gu, (_quoted, name: string) => `\`${names[name] ?? name}\``)
}
