import { WorkspaceError } from '@ws/core'
import { contractError, type ContractCode } from '@ws/core/adapter'

export { invalidArgument as invalid } from '@ws/core/adapter'

/** The error for a situation that has one name in the whole contract, or for a condition that the server does not know. */
export function failure(code: ContractCode | 'ENOTSUP', operation: string, path: string): WorkspaceError {
  if (code !== 'ENOTSUP') return contractError(code, operation, path)
  const reason = 'cannot be given that condition: the server does not honour it'
  return new WorkspaceError({ code, operation, path, reason })
}
