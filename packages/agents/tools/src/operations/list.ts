import type { WorkspaceEntry } from '@ws/core'
import { z } from 'zod'

import { leftOut, walkTree } from '../looking/walk.ts'
import { signaturesOf } from '../looking/signatures.ts'
import type { Call } from '../session/session.ts'
import { headAndTail } from '../text/cut.ts'
import { inLine } from '../text/frame.ts'
import { clipLine } from '../text/numbered.ts'
import { hidden } from './fields.ts'
import { operation } from './operation.ts'

const mostFiles = 200

export const list = operation({
  name: 'list',
  description:
    'Lists the files below a directory by path, 200 at most, and says how many were left out. Hidden files, `node_modules`, ' +
    '`__pycache__`, `.git` and `.venv` are not entered.',
  input: z.strictObject({
    path: z.string().min(1).optional().describe('Directory. Default: the root'),
    depth: z.int().min(1).max(100).optional().describe('Levels of directories: 1 is the directory alone. Default: all'),
    signatures: z
      .boolean()
      .optional()
      .describe('Show classes and functions of Python and TypeScript sources. Default true'),
    hidden,
  }),
  example: { path: '/src' },
  readOnly: true,
  destructive: false,
  idempotent: true,
  async handle(call, { path: given = '.', depth, hidden: all = false, signatures = true }) {
    call.pass()
    const target = await call.resolve('list', given)
    const { entries, total } = await walkTree(call, target, { depth, hidden: all, limit: mostFiles })
    const lines = [call.show(`${target}/`.replace('//', '/'))]
    const start = target === '/' ? 1 : target.replace(/\/$/u, '').length + 1
    const { byPath, missing } = await signaturesOf(call, signatures ? entries : [])
    for (const entry of entries) {
      lines.push(lineOf(call, entry, start), ...(byPath.get(entry.path) ?? []).map((line) => `      ${inLine(line)}`))
    }
    const more = total - entries.length
    if (missing !== undefined) lines.push(`[signatures may be missing; \`npm install ${missing}\` for exact ones]`)
    if (total === 0) lines.push('(nothing here)')
    if (more > 0) lines.push(`[${more} more left out; list a directory below, or use find]`)
    return {
      text: headAndTail(lines.join('\n')),
      data: { path: target, entries: entries.length, total, left_out: more },
      ...(more > 0 && { next: { operation: 'list', arguments: { path: given, depth: 1 } } }),
    }
  },
})

function lineOf(call: Call, { path, name, type, size }: WorkspaceEntry, start: number): string {
  // escape a leading blank: only the indent distinguishes entries from signatures
  const below = call.show(clipLine(path.slice(start)).text).replace(/^ /u, '\\u{20}')
  if (type === 'directory') return `  ${below}/${leftOut.has(name) ? ' (not entered)' : ''}`
  if (type === 'symlink') return `  ${below} (link)`
  if (type === 'other') return `  ${below} (not a file)`
  return `  ${below}${size === undefined ? '' : ` (${size} bytes)`}`
}
