import { type ErrorCode, WorkspaceError } from '@ws/core'

export function execError(code: ErrorCode, reason: string, remedy?: string, native?: unknown): WorkspaceError {
  return new WorkspaceError({ code, operation: 'exec', reason, remedy, native })
}
