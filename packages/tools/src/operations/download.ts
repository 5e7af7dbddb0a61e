import { z } from 'zod'

import { ToolProblem } from '../answers/problem.ts'
import { path } from './fields.ts'
import { operation } from './operation.ts'

export const download = operation({
  name: 'download',
  description:
    'Downloads a public http(s) address into a file, 50 MB at most. With `as: markdown` HTML becomes Markdown.',
  input: z.strictObject({
    url: z.string().min(1).describe('Address that begins with https:// or http://'),
    path,
    as: z.enum(['raw', 'markdown']).optional().describe('Default raw'),
  }),
  example: { url: 'https://example.com/data.csv', path: '/data/data.csv' },
  readOnly: false,
  destructive: true,
  idempotent: false,
  openWorld: true,
  handle: (_, { path: given }) =>
    Promise.reject(
      new ToolProblem({
        sentence: 'This toolset has no downloads',
        remedy: 'nothing was changed; ask the user for the file',
        next: { operation: 'list', arguments: { path: '.' } },
        data: { code: 'ENOTSUP', path: given },
      }),
    ),
})
