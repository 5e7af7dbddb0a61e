import { WorkspaceError } from '@ws/core'

export function invalid(operation: string, reason: string, remedy?: string): WorkspaceError {
  return new WorkspaceError({ code: 'EINVAL', operation, reason, remedy })
}
