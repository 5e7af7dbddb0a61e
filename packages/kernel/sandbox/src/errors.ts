import { WorkspaceError } from '@ws/core'

/** Makes the `EINVAL` of an argument that cannot be used. */
export function invalid(operation: string, reason: string, remedy?: string): WorkspaceError {
  return new WorkspaceError({ code: 'EINVAL', operation, reason, remedy })
}
