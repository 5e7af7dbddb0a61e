import { quoteForShell } from '@ws/core/executor'

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

export function nextForAnthropic(operation: NextOperation): NextCall {
  const path = operation.arguments['path']
  if (
    operation.operation === 'read_chunked' &&
    typeof path === 'string' &&
    operation.arguments['pages'] !== undefined
  ) {
    return { tool: 'bash', arguments: { command: `pdftotext ${quoteForShell(path)} -` } }
  }
  const { tool, arguments: given } = nextInClaudeCode(operation)
  if (tool !== 'Read') return { tool: names[tool] ?? 'bash', arguments: given }
  const { file_path: file, offset, limit } = given
  const start = typeof offset === 'number' ? offset : 1
  const isPart = start > 1 || typeof limit === 'number'
  const range = isPart ? [start, typeof limit === 'number' ? start + limit - 1 : -1] : undefined
  return { tool: 'read', arguments: { file_path: file, view_range: range } }
}
