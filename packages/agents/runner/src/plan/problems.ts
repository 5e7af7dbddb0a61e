import { WorkspaceError, type ErrorCode } from '@ws/core'

export interface PlanProblem {
  readonly code: ErrorCode
  /** The line in the plan's text, from 1; absent for plans that were given as data. */
  readonly line?: number | undefined
  readonly step?: string | undefined
  readonly path?: string | undefined
  /** A sentence without a full stop at its end. */
  readonly reason: string
  readonly remedy: string
}

const mostShown = 20

/** Such as "line 7, step `build`: `needs` names `lnit`, which is not a step; …". */
export function describeProblem({ line, step, reason, remedy }: PlanProblem): string {
  const place = [line === undefined ? undefined : `line ${line}`, step === undefined ? undefined : `step \`${step}\``]
  const where = place.filter((part) => part !== undefined).join(', ')
  return `${where === '' ? '' : `${where}: `}${reason}; ${remedy}`
}

export function planError(problems: readonly PlanProblem[]): WorkspaceError {
  const [first] = problems
  const shown = problems.slice(0, mostShown).map((problem) => describeProblem(problem))
  if (problems.length > mostShown) shown.push(`and ${problems.length - mostShown} more`)
  return new WorkspaceError({
    code: first?.code ?? 'EINVAL',
    operation: 'plan',
    path: problems.length === 1 ? first?.path : undefined,
    reason: shown.join('\n  '),
  })
}
