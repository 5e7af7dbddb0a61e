import { WorkspaceError, type ErrorCode, type WorkspaceErrorOptions } from '../errors.ts'

/** For executors: the error of a command that they do not run. `reason` and `remedy` hold no host path. */
export function execError(
  code: ErrorCode,
  reason: string,
  details: Pick<WorkspaceErrorOptions, 'path' | 'rule' | 'remedy' | 'native'> = {},
): WorkspaceError {
  return new WorkspaceError({ code, operation: 'exec', reason, ...details })
}
