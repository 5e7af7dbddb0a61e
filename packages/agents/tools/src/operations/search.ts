import { isWorkspaceError } from '@ws/core'
import type { WorkspaceError } from '@ws/core'
import { createLineMatcher } from '@ws/text-search'
import { z } from 'zod'

import { problemOf } from '../answers/from-error.ts'
import { ToolProblem } from '../answers/problem.ts'
import { contextLines } from '../looking/context-lines.ts'
import { collectHits } from '../looking/hits.ts'
import type { Hit } from '../looking/hits.ts'
import { nextAtPlace, showHit } from '../looking/show-hit.ts'
import { headAndTail } from '../text/cut.ts'
import { directory, ignored, limit as most } from './fields.ts'
import { operation } from './operation.ts'

export const search = operation({
  name: 'search',
  description:
    'Searches lines by an RE2 regular expression or literal text. Ignored files (`.gitignore`) are left out. `mode`: `content` gives lines, `files` ' +
    'paths, `count` matches for each file. At most 40 KB are shown: 10 of the head, 30 of the tail.',
  input: z.strictObject({
    pattern: z.string().min(1).describe('Regular expression (RE2), matched within a line'),
    path: directory,
    glob: z.string().min(1).optional().describe('Only files that match, such as *.ts, or src/**/*.{ts,tsx}'),
    mode: z.enum(['content', 'files', 'count']).optional().describe('Default content'),
    context: z.int().min(0).max(20).optional().describe('Lines to show around each match. Default 0'),
    ignore_case: z.boolean().optional().describe('Default false'),
    ignored,
    literal: z.boolean().optional().describe('`pattern` is plain text'),
    limit: most,
    skip: z.int().min(0).max(100_000).optional().describe('Matches or files to leave out at the beginning. Default 0'),
  }),
  example: { pattern: 'TODO', path: '/src' },
  readOnly: true,
  destructive: false,
  idempotent: true,
  async handle(call, input) {
    call.pass()
    const { pattern, path: given = '.', glob, mode = 'content', context = 0, limit = 1000, skip = 0 } = input
    const target = await call.resolve('search', given)
    const query = {
      in: target,
      glob,
      ignored: input.ignored,
      regex: input.literal !== true,
      caseSensitive: input.ignore_case !== true,
      mode,
      limit,
      skip,
    }
    const asLiteral = (error: unknown): never => {
      throw query.regex && isWorkspaceError(error, 'EINVAL') ? withLiteral(error, input) : error
    }
    // Check the pattern before the store reads ignore files: a bad pattern costs no request.
    try {
      createLineMatcher({ pattern, regex: query.regex, caseSensitive: query.caseSensitive })
    } catch (error) {
      asLiteral(error)
    }
    const { hits, more, omitted } = await collectHits(call, pattern, query).catch(asLiteral)
    if (hits.length === 0) {
      const behind = skip > 0 ? ` behind the first ${skip}` : ''
      return { text: `No matches${behind}.${omitted.sentence({ hidden: false })}`, data: { matches: 0 } }
    }
    const footer = more ? `\n[more matches than ${limit}; next: skip ${skip + limit}]` : ''
    const text = await render(hits)
    return {
      text: `${headAndTail(text)}${footer}`,
      data: {
        matches: hits.reduce((total, hit) => total + (hit.count ?? 1), 0),
        files: new Set(hits.map(({ path }) => path)).size,
        more,
      },
      next: more
        ? { operation: 'search', arguments: { ...input, skip: skip + limit } }
        : mode === 'content'
          ? nextAtPlace(hits)
          : undefined,
    }

    async function render(all: readonly Hit[]): Promise<string> {
      if (mode === 'files') return all.map(({ path }) => call.show(path)).join('\n')
      if (mode === 'count') return all.map(({ path, count = 1 }) => `${call.show(path)}:${count}`).join('\n')
      if (context > 0) return contextLines(call, all, { before: context, after: context })
      return all.map((hit) => `${call.show(hit.path)}:${hit.line}:${showHit(hit)}`).join('\n')
    }
  },
})

/** Adds a remedy to the error: an invalid regular expression was most often meant as plain text. */
function withLiteral(
  error: WorkspaceError,
  input: { readonly pattern: string; readonly path?: string | undefined },
): ToolProblem {
  const { pattern, path } = input
  const next = { operation: 'search', arguments: { pattern, path, literal: true } }
  return new ToolProblem({ ...problemOf(error), next })
}
