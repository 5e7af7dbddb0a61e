import { z } from 'zod'

import type { Outcome } from '../answers/problem.ts'
import { walkGlob } from '../looking/walk.ts'
import type { Call } from '../session/session.ts'
import { jsonOf } from '../text/frame.ts'
import { directory, hidden, ignored } from './fields.ts'
import { operation } from './operation.ts'

const mostPaths = 100

export const find = operation({
  name: 'find',
  description:
    'Finds files by a glob: `*.ts` by name at any depth, `src/**/*.ts` by path. 100 at most, with the total. Hidden and ' +
    'ignored files (`.gitignore`) and `node_modules` are left out unless the glob names them.',
  input: z.strictObject({
    glob: z.string().min(1).describe('Glob such as *.ts, or src/**/*.{ts,tsx}'),
    path: directory,
    hidden,
    ignored,
  }),
  example: { glob: '*.ts' },
  readOnly: true,
  destructive: false,
  idempotent: true,
  handle: (call, input) => findPaths(call, input),
})

interface Wanted {
  readonly glob: string
  readonly path?: string | undefined
  readonly hidden?: boolean | undefined
  readonly ignored?: boolean | undefined
}

export async function findPaths(
  call: Call,
  { glob, path: given = '.', hidden: all = false, ignored: everywhere = false }: Wanted,
  { filesOnly = false }: { readonly filesOnly?: boolean } = {},
): Promise<Outcome> {
  call.pass()
  const target = await call.resolve('find', given)
  const rooted = await globBelow(glob)
  const options = { hidden: all, ignored: everywhere, filesOnly, limit: mostPaths }
  const { entries, total, omitted } = await walkGlob(call, target, rooted, options)
  const more = total - entries.length
  if (total === 0) {
    return {
      text: `No file matches ${jsonOf(glob)} below ${call.show(target)}.${omitted.sentence({ hidden: true })}`,
      data: { total, paths: [] },
      next: { operation: 'list', arguments: { path: given } },
    }
  }
  const paths = entries.map(({ path, type }) => (type === 'directory' ? `${path}/` : path))
  const footer = more > 0 ? `\n[${entries.length} of ${total} shown; give a narrower glob or a path]` : ''
  return { text: `${paths.map((path) => call.show(path)).join('\n')}${footer}`, data: { total, left_out: more, paths } }

  async function globBelow(given: string): Promise<string> {
    if (!given.startsWith('/')) return given
    const fixed = /^(?:\/[^*?[\]{}\\!]*)(?=\/|$)/u.exec(given)?.[0] ?? ''
    const base = fixed === '' ? '/' : await call.resolve('find', fixed)
    const from = target === '/' ? '' : target
    if (base !== target && !base.startsWith(`${from}/`)) return given
    return `./${`${base}${given.slice(fixed.length)}`.slice(from.length).replace(/^\/+/u, '')}`
  }
}
