import { isWorkspaceError, WorkspaceError } from '@ws/core'

const securityCode = 'ESECURITY' as const

export interface BreachOptions {
  readonly operation: string
  readonly path?: string | undefined
  readonly reason: string
  readonly rule: string
  readonly remedy: string
  readonly native?: unknown
}

export function breach(options: BreachOptions): WorkspaceError {
  return new WorkspaceError({ code: securityCode, ...options })
}

export function isBreach(error: unknown): error is WorkspaceError {
  return isWorkspaceError(error, securityCode)
}

const denials: readonly string[] = ['EACCES', 'EROFS', 'EOUTSIDE']

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
