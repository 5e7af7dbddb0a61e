import { WorkspaceError, quotePath } from '../errors.ts'

export function malformed(glob: string, operation: string, reason: string, remedy: string): WorkspaceError {
  return new WorkspaceError({ code: 'EINVAL', operation, reason: `the glob ${quotePath(glob)} ${reason}`, remedy })
}
