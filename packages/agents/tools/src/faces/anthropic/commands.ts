import { z } from 'zod'

import { ToolProblem } from '../../answers/problem.ts'
import type { NextOperation, Outcome } from '../../answers/problem.ts'
import { operations } from '../../operations/table.ts'
import type { Call } from '../../session/session.ts'
import type { NextCall } from '../../types.ts'
import type { Dialect } from '../face.ts'
import { rangeOfPages } from './next.ts'

export const strReplace = {
  old_str: z.string().min(1).describe('The text to replace; it must be found exactly once'),
  new_str: z.string().optional().describe('The text to put there. Default: nothing'),
}

/** Replaces a text that must occur once. The command has no argument `all`, so answers do not propose it. */
export async function replaceOnce(
  call: Call,
  path: string,
  { old_str: old, new_str: text = '' }: { readonly old_str: string; readonly new_str?: string | undefined },
): Promise<Outcome> {
  try {
    return await operations.replace.handle(call, { path, old, new: text })
  } catch (error) {
    if (!(error instanceof ToolProblem) || !error.options.remedy.includes('`all`')) throw error
    const remedy = error.options.remedy.replace(', or pass `all`', '')
    throw new ToolProblem({ ...error.options, remedy, next: { operation: 'read', arguments: { path } } })
  }
}

/** Answers name the tool's own commands: a model may have only this tool. @param pathFor returns `undefined` for paths out of reach */
export function commandDialect(tool: string, pathFor: (path: string) => string | undefined): Dialect {
  const next = ({ operation, arguments: given }: NextOperation): NextCall | undefined => {
    const path = pathFor(typeof given['path'] === 'string' ? given['path'] : '.')
    if (path === undefined) return undefined
    const call = (command: string, rest: NextCall['arguments'] = {}): NextCall => {
      return { tool, arguments: { command, path, ...rest } }
    }
    // no command searches names, so the model gets a listing
    if (operation === 'list' || operation === 'find') return call('view')
    if (operation === 'read' || operation === 'inspect') {
      const { offset, start_line: line, limit } = given
      const first = typeof offset === 'number' ? offset + 1 : typeof line === 'number' ? line : 1
      const last = typeof limit === 'number' ? first + limit - 1 : -1
      return call('view', first > 1 || last !== -1 ? { view_range: [first, last] } : {})
    }
    const { pages } = given
    if (operation === 'read_chunked' && typeof pages === 'string')
      return call('view', { view_range: rangeOfPages(pages) })
    if (operation === 'write') return call('create', { file_text: given['content'] })
    if (operation === 'replace') return call('str_replace', { old_str: given['old'], new_str: given['new'] })
    return undefined
  }
  return { next, words }
}

const words = {
  read: 'view',
  inspect: 'view',
  list: 'view',
  find: 'view',
  write: 'create',
  replace: 'str_replace',
  edit: 'str_replace',
  move: 'rename',
  old: 'old_str',
  new: 'new_str',
} as const
