import { quoteForShell } from '@ws/core/executor'

import type { NextOperation } from '../../answers/problem.ts'
import type { Json, NextCall } from '../../types.ts'

export function nextInClaudeCode({ operation, arguments: given }: NextOperation): NextCall {
  const path = text(given['path']) ?? '.'
  const bash = (...words: string[]): NextCall => ({ tool: 'Bash', arguments: { command: words.join(' ') } })
  switch (operation) {
    case 'read': {
      const { offset, start_line: start, limit } = given
      const first = typeof offset === 'number' ? offset + 1 : start
      return { tool: 'Read', arguments: { file_path: path, offset: first, limit } }
    }
    case 'read_chunked': {
      const { pages, offset_bytes: offset, size } = given
      if (pages !== undefined) return { tool: 'Read', arguments: { file_path: path, pages } }
      return bash(
        'tail -c',
        `+${Number(offset ?? 0) + 1}`,
        quoteForShell(path),
        '| head -c',
        typeof size === 'number' ? String(size) : '16384',
      )
    }
    case 'inspect':
      return { tool: 'Read', arguments: { file_path: path, limit: 10 } }
    case 'write':
      return { tool: 'Write', arguments: { file_path: path, content: given['content'] } }
    case 'replace':
      return {
        tool: 'Edit',
        arguments: {
          file_path: path,
          old_string: given['old'],
          new_string: given['new'],
          ...(given['all'] === true && { replace_all: true }),
        },
      }
    case 'search':
      return { tool: 'Grep', arguments: { pattern: given['pattern'], path: given['path'] } }
    case 'find':
      return { tool: 'Glob', arguments: { pattern: given['glob'], path: given['path'] } }
    case 'list':
      return { tool: 'Glob', arguments: { pattern: '*', path } }
    case 'delete':
      return bash('rm', ...(given['recursive'] === true ? ['-r'] : []), quoteForShell(path))
    case 'copy':
      return bash('cp -rn', quoteForShell(text(given['from']) ?? ''), quoteForShell(text(given['to']) ?? ''))
    case 'move':
    case 'rename':
      return bash('mv -n', quoteForShell(text(given['from']) ?? ''), quoteForShell(text(given['to']) ?? ''))
    case 'execute': {
      const { id, kill, command, background } = given
      if (id !== undefined) return { tool: kill === true ? 'TaskStop' : 'TaskOutput', arguments: { task_id: id } }
      return { tool: 'Bash', arguments: { command, ...(background === true && { run_in_background: true }) } }
    }
    default:
      return { tool: 'Glob', arguments: { pattern: '*' } }
  }
}

function text(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}
