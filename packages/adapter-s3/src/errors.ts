import { WorkspaceError, type ErrorCode } from '@ws/core'

interface Explanation {
  readonly reason: string
  readonly remedy?: string
}

const explanations = {
  ENOENT: { reason: 'does not exist' },
  EEXIST: { reason: 'exists already' },
  ENOTDIR: { reason: 'is not a directory, or lies below a file' },
  EISDIR: { reason: 'is a directory' },
  ENOTEMPTY: { reason: 'is a directory that is not empty', remedy: 'delete it with `recursive`' },
  EROFS: { reason: 'is in a read-only store' },
  EBUSY: { reason: 'is the root of the store, which stays where it is' },
  ECONFLICT: { reason: 'is not in the state that the condition asks for', remedy: 'read it again, then decide' },
  ECLOSED: { reason: 'cannot be reached: the adapter is closed' },
  ENOTSUP: { reason: 'cannot be given that condition: the server does not honour it' },
} satisfies Partial<Record<ErrorCode, Explanation>>

/** The error for a situation that has one name in the whole contract. */
export function failure(code: keyof typeof explanations, operation: string, path: string): WorkspaceError {
  const { reason, remedy }: Explanation = explanations[code]
  return new WorkspaceError({ code, operation, path, reason, remedy })
}

/** The error for what a caller got wrong. */
export function invalid(operation: string, path: string, reason: string, remedy?: string): WorkspaceError {
  return new WorkspaceError({ code: 'EINVAL', operation, path, reason, remedy })
}
