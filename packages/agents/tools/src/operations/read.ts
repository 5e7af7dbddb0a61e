import { z } from 'zod'

import { ToolProblem } from '../answers/problem.ts'
import { readEntry } from '../reading/entry.ts'
import { limit as most, path } from './fields.ts'
import { operation } from './operation.ts'

/** Default lines of a window [PC25]. */
export const defaultLines = 2000

export const read = operation({
  name: 'read',
  description:
    'Reads a text file as numbered lines, the first 2,000 by default. `offset` skips lines and counts from 0; `start_line` ' +
    'counts from 1 like the numbers shown; give one of them. Shows a PNG, JPEG, GIF or WebP as an image. Other binary files are refused; read a PDF with `read_chunked`.',
  input: z.strictObject({
    path,
    offset: z.int().min(0).optional().describe('Lines to skip, from 0. Default 0'),
    start_line: z.int().min(1).optional().describe('First line, from 1, instead of `offset`'),
    limit: most,
  }),
  example: { path: '/src/app.ts' },
  readOnly: true,
  destructive: false,
  idempotent: true,
  async handle(call, { path: given, offset, start_line: startLine, limit = defaultLines }) {
    const target = await call.resolve('read', given)
    if (offset !== undefined && startLine !== undefined) {
      throw new ToolProblem({
        sentence: '`offset` and `start_line` are both given',
        remedy: 'give one of them: `offset` counts from 0, `start_line` from 1',
        next: { operation: 'read', arguments: { path: given, start_line: startLine } },
        data: { code: 'EINVAL', argument: 'offset' },
      })
    }
    const skipped = offset ?? (startLine === undefined ? 0 : startLine - 1)
    return call.alone([target], () => readEntry(call, { path: target, offset: skipped, limit }))
  },
})
