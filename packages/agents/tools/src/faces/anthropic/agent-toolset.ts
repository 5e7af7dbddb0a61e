import { z } from 'zod'

import { ToolProblem } from '../../answers/problem.ts'
import { longestTimeout } from '../../operations/execute.ts'
import { hidden, ignored } from '../../operations/fields.ts'
import { operations } from '../../operations/table.ts'
import { changes, faceTool, placeOf, readsOnly, replaces } from '../face.ts'
import type { FaceOptions, FaceTool } from '../face.ts'
import { view, viewRange } from './view.ts'

const filePath = z.string().min(1).describe('Path of the file')
const directory = z.string().min(1).optional().describe('Directory. Default: the root')

export function agentToolset({ root }: FaceOptions): FaceTool[] {
  const isKept = root !== undefined
  return [
    faceTool({
      name: 'bash',
      description: `Runs a shell command ${placeOf(root)}.${isKept ? '' : ' Each starts anew: no directory or variable stays.'}`,
      input: z.strictObject({
        command: z.string().min(1).optional().describe('The command'),
        restart: z
          .boolean()
          .optional()
          .describe(isKept ? 'Begin with a new shell, at the root' : 'Accepted'),
        timeout_ms: z.int().min(1).max(longestTimeout).optional().describe('Milliseconds. Default 120000'),
      }),
      example: { command: 'ls -la' },
      annotations: changes,
      runsCommands: true,
      run(call, { command, restart = false, timeout_ms: timeout }) {
        if (command !== undefined || (restart && isKept))
          return operations.execute.handle(call, { command, timeout, restart })
        if (restart) return Promise.resolve({ text: 'The shell starts anew with each command.' })
        throw new ToolProblem({
          sentence: '`bash` needs the argument `command` (text that is not empty), which is missing',
          remedy: 'nothing was run; give the command',
          next: { tool: 'bash', arguments: { command: 'ls -la' } },
          data: { code: 'EINVAL', argument: 'command' },
        })
      },
    }),
    faceTool({
      name: 'read',
      description:
        'Reads a text file as numbered lines: 2,000 from the beginning by default. Shows images. In a PDF, `view_range` counts pages.',
      input: z.strictObject({ file_path: filePath, view_range: viewRange }),
      example: { file_path: '/src/app.ts' },
      annotations: readsOnly,
      run: (call, { file_path: path, view_range: range }) => view(call, path, range, 'read'),
    }),
    faceTool({
      name: 'write',
      description: 'Creates or replaces a whole file.',
      input: z.strictObject({ file_path: filePath, content: z.string().describe('The content') }),
      example: { file_path: '/notes/plan.md', content: '# Plan\n' },
      annotations: replaces,
      run: (call, { file_path: path, content }) => operations.write.handle(call, { path, content }),
    }),
    faceTool({
      name: 'edit',
      description: 'Replaces a text that is found exactly once, or everywhere with `replace_all`.',
      input: z.strictObject({
        file_path: filePath,
        old_string: z.string().min(1).describe('The text to replace'),
        new_string: z.string().describe('The text to put there'),
        replace_all: z.boolean().optional().describe('Replace every occurrence'),
      }),
      example: { file_path: '/src/app.ts', old_string: 'const a = 1', new_string: 'const a = 2' },
      annotations: changes,
      run: (call, { file_path: path, old_string: old, new_string: text, replace_all: all }) =>
        operations.replace.handle(call, { path, old, new: text, all }),
    }),
    faceTool({
      name: 'glob',
      description: 'Finds files by a glob: 100 at most, sorted by path.',
      input: z.strictObject({ pattern: z.string().min(1).describe('The glob'), path: directory, hidden, ignored }),
      example: { pattern: '**/*.ts' },
      annotations: readsOnly,
      run: (call, { pattern, ...input }) => operations.find.handle(call, { glob: pattern, ...input }),
    }),
    faceTool({
      name: 'grep',
      description: 'Searches the lines of files by a regular expression (RE2).',
      input: z.strictObject({
        pattern: z.string().min(1).describe('Regular expression'),
        path: directory,
        ignored,
      }),
      example: { pattern: 'TODO' },
      annotations: readsOnly,
      run: (call, input) => operations.search.handle(call, input),
    }),
  ]
}
