import { isWorkspaceError, WorkspaceError, type ErrorCode } from '@ws/core'
import { rewriteError } from '@ws/core/adapter'

import { operation } from './options.ts'

export function unusable(code: ErrorCode, reason: string, remedy: string, native?: unknown): WorkspaceError {
  return new WorkspaceError({ code, operation, reason, remedy, native })
}

export function failure(
  code: ErrorCode,
  {
    operation: name,
    path,
    reason,
    remedy,
  }: Readonly<Record<'operation' | 'reason' | 'remedy', string>> & { path?: string | undefined },
): WorkspaceError {
  return new WorkspaceError({ code, operation: name, path, reason, remedy })
}

export function typed(error: unknown, path?: string): WorkspaceError {
  if (isWorkspaceError(error)) return error
  return new WorkspaceError({
    code: 'EIO',
    operation: 'flush',
    path,
    reason: 'could not be worked on: the replica failed in an unexpected way',
    remedy: 'try again; if it stays, tell the operator',
    native: error,
  })
}

/** Returns a handler that rethrows an error with the caller's operation. */
export function named(operation: string): (error: unknown) => never {
  return (error) => {
    throw isWorkspaceError(error) ? rewriteError(error, { operation }) : error
  }
}

/** The error for a change that is on the disk but not in the store. */
export function unsaved(error: WorkspaceError): WorkspaceError {
  if (error.code === 'ECONFLICT') return error
  return rewriteError(error, {
    reason: `${error.reason}. The change is kept on this machine, and is not in the store`,
    remedy: `${error.remedy ?? 'try again'}; then call \`flush\``,
  })
}
