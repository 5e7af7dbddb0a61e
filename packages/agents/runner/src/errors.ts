import { isWorkspaceError, WorkspaceError } from '@ws/core'

/** A step read or wrote outside of its inputs and outputs. */
const securityCode = 'ESECURITY' as const

export interface BreachOptions {
  readonly operation: string
  readonly path?: string | undefined
  /** Follows the path in a sentence. */
  readonly reason: string
  readonly rule: string
  readonly remedy: string
  readonly native?: unknown
}

/** The security error of PM3 and PM4. */
export function breach(options: BreachOptions): WorkspaceError {
  return new WorkspaceError({ code: securityCode, ...options })
}

export function isBreach(error: unknown): error is WorkspaceError {
  return isWorkspaceError(error, securityCode)
}

const denials: readonly string[] = ['EACCES', 'EROFS', 'EOUTSIDE']

/** A denial of the policy as the security error, and every other error as it is. */
export function asBreach(error: unknown, fallbackRule = 'inputs'): unknown {
  if (!isWorkspaceError(error) || !denials.includes(error.code)) return error
  const {
    operation,
    path,
    reason,
    rule = fallbackRule,
    remedy = 'declare it in the inputs or outputs of the step',
  } = error
  return breach({ operation, path, reason, rule, remedy, native: error })
}

export function invalid(operation: string, reason: string, remedy: string, native?: unknown): WorkspaceError {
  return new WorkspaceError({ code: 'EINVAL', operation, reason, remedy, native })
}
