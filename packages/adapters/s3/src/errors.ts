import { WorkspaceError } from '@ws/core'

export { contractError as failure } from '@ws/core/adapter'

export function invalid(operation: string, path: string, reason: string, remedy?: string): WorkspaceError {
  return new WorkspaceError({ code: 'EINVAL', operation, path, reason, remedy })
}
