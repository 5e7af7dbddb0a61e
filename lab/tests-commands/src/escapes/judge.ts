import { type GuaranteeLevel, guaranteeFields } from '@ws/core/executor'

import { type Attempt, attempts } from './attempts.ts'
import type { ColumnReport } from './run.ts'

export type Verdict = Pick<ColumnReport, 'guarantees' | 'reached' | 'unfinished'>

/**
 * - `by luck`: the attempt may get out, as declared, and does so in some runs.
 * - `no fight`: there is no defence that the attempt could fight.
 * - `shared`: the attempt succeeded, and no guarantee forbids that.
 */
export type Outcome = 'out' | 'blocked' | 'by luck' | 'no fight' | 'shared'

/** The outcome of one attempt, with equal words in each run: `by luck` is used only where luck may decide. */
export function outcomeOf({ name, field, luck, shared }: Attempt, { guarantees, reached }: Verdict): Outcome {
  if (luck === true && !holds(guarantees[field])) return guarantees[field] === 'none' ? 'no fight' : 'by luck'
  return reached.has(name) ? (shared ? 'shared' : 'out') : 'blocked'
}

/**
 * The differences between a run and the declared guarantees.
 *
 * - `kernel`, `interpreter`: no attempt may get out.
 * - `translated`: an attempt against the translation must get out, unless luck decides it; no other attempt may.
 * - `none`: an attempt must get out.
 */
export function misdeclared({ guarantees, reached, unfinished }: Verdict): string[] {
  const problems = unfinished.map((name) => `${name} did not come to its end`)
  for (const field of guaranteeFields) {
    const tried = attempts.filter((attempt) => attempt.field === field && attempt.shared !== true)
    if (tried.length === 0) continue
    const level = guarantees[field]
    const out = tried.filter(({ name }) => reached.has(name))
    const plain = out.filter(({ fights }) => fights !== true)
    const worse = level === 'none' ? [] : level === 'translated' ? plain : out
    problems.push(...worse.map(({ name }) => `${field} is declared \`${level}\`, but \`${name}\` got out`))
    const lucky = level === 'translated' && tried.some(({ luck }) => luck === true)
    if (!holds(level) && out.length === 0 && !lucky)
      problems.push(`${field} is declared \`${level}\`, but nothing got out: it is better than that`)
  }
  return problems
}

/** Attempts that may succeed by luck, as declared, but failed in this run. */
export function unluckyIn({ guarantees, reached }: Verdict): string[] {
  return attempts
    .filter(({ name, field, luck }) => luck === true && guarantees[field] === 'translated' && !reached.has(name))
    .map(({ name }) => name)
}

function holds(level: GuaranteeLevel): boolean {
  return level === 'kernel' || level === 'interpreter'
}
