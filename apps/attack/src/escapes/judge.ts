import { guaranteeFields } from '@ws/core'

import { attempts } from './attempts.ts'
import type { ColumnReport } from './run.ts'

/**
 * Where what was seen is not what is declared, field by field; empty: it is.
 *
 * - `kernel`, `interpreter`: nothing got out.
 * - `translated`: only what works against the translation got out, and something did: else more could be declared.
 * - `none`: something got out.
 */
export function misdeclared({ guarantees, reached, unfinished }: ColumnReport): string[] {
  const problems = unfinished.map((name) => `${name} did not come to its end`)
  for (const field of guaranteeFields) {
    const tried = attempts.filter((attempt) => attempt.field === field)
    if (tried.length === 0) continue
    const level = guarantees[field]
    const out = tried.filter(({ name }) => reached.has(name))
    const plain = out.filter(({ fights }) => fights !== true)
    const worse = level === 'none' ? [] : level === 'translated' ? plain : out
    problems.push(...worse.map(({ name }) => `${field} is declared \`${level}\`, but \`${name}\` got out`))
    if ((level === 'none' || level === 'translated') && out.length === 0)
      problems.push(`${field} is declared \`${level}\`, but nothing got out: it is better than that`)
  }
  return problems
}
