import type { NextOperation } from '../../answers/problem.ts'
import type { NextCall } from '../../types.ts'
import { nextInClaudeCode } from '../claude-code/next.ts'

const names: Readonly<Record<string, string>> = {
  Read: 'read',
  Edit: 'edit',
  Write: 'write',
  Glob: 'glob',
  Grep: 'grep',
  Bash: 'bash',
  TaskOutput: 'bash',
  TaskStop: 'bash',
}

/** `4-` as a `view_range`. */
export function rangeOfPages(pages: string): readonly [first: number, last: number] {
  const [first = '', last = first] = pages.split('-')
  return [Number(first), Number(last || -1)]
}

export function nextForAnthropic(operation: NextOperation): NextCall {
  const { path, pages } = operation.arguments
  if (operation.operation === 'read_chunked' && typeof pages === 'string') {
    return { tool: 'read', arguments: { file_path: path, view_range: rangeOfPages(pages) } }
  }
  const { tool, arguments: given } = nextInClaudeCode(operation)
  if (tool !== 'Read') return { tool: names[tool] ?? 'bash', arguments: given }
  const { file_path: file, offset, limit } = given
  const start = typeof offset === 'number' ? offset : 1
  const isPart = start > 1 || typeof limit === 'number'
  const range = isPart ? [start, typeof limit === 'number' ? start + limit - 1 : -1] : undefined
  return { tool: 'read', arguments: { file_path: file, view_range: range } }
}
