import type { Workspace } from '@ws/core'
import { createTools } from '@ws/tools'
import type { ToolAnswer } from '@ws/tools'
import type { BackendProtocolV2, EditResult } from 'deepagents'

import { orFault } from './errors.ts'
import { textOf } from './kinds.ts'

/**
 * Edits with the engine of `@ws/tools`. The engine also finds texts with other blanks, line ends, look-alikes or indent.
 * Two edits at the same time keep the changes of both.
 */
export function createEdit(workspace: Workspace): BackendProtocolV2['edit'] {
  const toolset = createTools(workspace, { face: 'split', downloads: false })
  return (path, oldString, newString, replaceAll = false) =>
    orFault(path, async (): Promise<EditResult> => {
      // the tools give `/workspace` a special meaning
      const target = await workspace.realPath(path)
      const { bytes, stat } = await workspace.read(target)
      const count = occurrencesOf(oldString, textOf(bytes) ?? '')
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

/** The reason in deepagents' words, if deepagents has words for it. */
function reasonOf(count: number, replaceAll: boolean): string {
  return count > 1 && !replaceAll ? `Multiple occurrences found (${count}). ` : ''
}

const names: Readonly<Record<string, string>> = { old: 'old_string', new: 'new_string', all: 'replace_all' }

/** Rewords an answer for deepagents. Omits the suggested next call, since it names tools of another toolset. */
function wordsFor({ text, next, isError }: ToolAnswer): string {
  // the next call is the last line of an error
  const own = next === undefined || !isError ? text : text.slice(0, text.lastIndexOf('\nNext: '))
  return own.replaceAll(/`(old|new|all)`/gu, (_quoted, name: string) => `\`${names[name] ?? name}\``)
}
