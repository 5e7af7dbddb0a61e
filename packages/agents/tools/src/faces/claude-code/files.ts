import { z } from 'zod'

import { defaultLines } from '../../operations/read.ts'
import { operations } from '../../operations/table.ts'
import { readEntry } from '../../reading/entry.ts'
import { changes, faceTool, readsOnly, replaces } from '../face.ts'
import type { FaceTool } from '../face.ts'

const filePath = z.string().min(1).describe('The path of the file')

export function claudeFiles(): FaceTool[] {
  return [readTool(), editTool(), writeTool()]
}

function readTool(): FaceTool {
  return faceTool({
    name: 'Read',
    description:
      'Reads a text file as numbered lines: 2,000 from the beginning by default. `offset` is the number of the first line, from 1. Shows images.',
    input: z.strictObject({
      file_path: filePath,
      offset: z.int().min(0).optional().describe('The line number to start from'),
      limit: z.int().min(1).optional().describe('The number of lines to read'),
      pages: z.string().min(1).optional().describe('Pages of a PDF, such as 1-5; at most 20'),
      allow_large: z.boolean().optional().describe('Accepted and without effect: every answer is bounded'),
    }),
    example: { file_path: '/src/app.ts' },
    annotations: readsOnly,
    async run(call, { file_path: given, offset = 1, limit = defaultLines, pages }) {
      if (pages !== undefined) return operations.read_chunked.handle(call, { path: given, pages })
      const path = await call.resolve('read', given)
      const words = {
        line: (from: number) => `offset ${from + 1}`,
        byte: (from: number) => `tail -c +${from + 1} in Bash`,
      }
      return call.alone([path], () => readEntry(call, { path, offset: Math.max(0, offset - 1), limit, words }))
    },
  })
}

function editTool(): FaceTool {
  return faceTool({
    name: 'Edit',
    description:
      'Replaces `old_string` by `new_string` in a file. It must be found exactly once, or everywhere with `replace_all`. An empty ' +
      '`old_string` creates a file.',
    input: z.strictObject({
      file_path: filePath,
      old_string: z.string().describe('The text to replace'),
      new_string: z.string().describe('The text to replace it with'),
      replace_all: z.boolean().optional().describe('Replace all occurrences. Default false'),
    }),
    example: { file_path: '/src/app.ts', old_string: 'const a = 1', new_string: 'const a = 2' },
    annotations: changes,
    run: (call, { file_path: path, old_string: old, new_string: text, replace_all: all }) =>
      operations.replace.handle(call, { path, old, new: text, all }),
  })
}

function writeTool(): FaceTool {
  return faceTool({
    name: 'Write',
    description: 'Writes a whole file. A file that exists must have been read first.',
    input: z.strictObject({
      file_path: filePath,
      content: z.string().describe('The content to write'),
    }),
    example: { file_path: '/notes/plan.md', content: '# Plan\n' },
    annotations: replaces,
    run: (call, { file_path: path, content }) => operations.write.handle(call, { path, content }),
  })
}
