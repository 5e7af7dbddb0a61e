import { type ErrorCode, WorkspaceError } from '@ws/core'

interface Details {
  readonly path?: string | undefined
  readonly rule?: string | undefined
  readonly remedy?: string | undefined
  readonly native?: unknown
}

/** An error of this executor. `reason` holds no host path. */
export function execError(code: ErrorCode, reason: string, details: Details = {}): WorkspaceError {
  return new WorkspaceError({ code, operation: 'exec', reason, ...details })
}
