import { isWorkspaceError, WorkspaceError, type ErrorCode, type WorkspaceErrorOptions } from '../errors.ts'
import { shortageOf, shortError } from '../shortage.ts'

/** For executors: returns the error of a refused command. `reason` and `remedy` must not contain a host path. */
export function execError(
  code: ErrorCode,
  reason: string,
  details: Pick<WorkspaceErrorOptions, 'path' | 'rule' | 'remedy' | 'native'> = {},
): WorkspaceError {
  return new WorkspaceError({ code, operation: 'exec', reason, ...details })
}

/** Returns an executor's error for callers. A system error becomes `ENOEXEC`, or the error of a shortage. */
export function typedError(error: unknown, operation: string): unknown {
  if (isWorkspaceError(error) || !isSystemError(error)) return error
  const shortage = shortageOf(error)
  if (shortage !== undefined) return shortError(shortage, { operation, native: error })
  return new WorkspaceError({
    code: 'ENOEXEC',
    operation,
    reason: `the command could not be run: \`${error.syscall}\` failed (${error.code})`,
    remedy: 'tell the operator of this machine',
    native: error,
  })
}

function isSystemError(error: unknown): error is Error & { readonly code: string; readonly syscall: string } {
  if (!(error instanceof Error) || !('code' in error)) return false
  return 'syscall' in error || error.code === 'ERR_WORKER_INIT_FAILED'
}
