import { type ErrorCode, WorkspaceError } from '../errors.ts'
import type { WriteData } from './types.ts'

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
} satisfies Partial<Record<ErrorCode, Explanation>>

/** Codes of the situations that every adapter knows. */
export type ContractCode = keyof typeof explanations

/** For adapters: the error for a situation that has one name in the whole contract, in words that are always the same. */
export function contractError(code: ContractCode, operation: string, path: string): WorkspaceError {
  const { reason, remedy }: Explanation = explanations[code]
  return new WorkspaceError({ code, operation, path, reason, remedy })
}

/** For adapters: `EINVAL`, for what a caller got wrong. */
export function invalidArgument(operation: string, path: string, reason: string, remedy?: string): WorkspaceError {
  return new WorkspaceError({ code: 'EINVAL', operation, path, reason, remedy })
}

/** For adapters: refuses what is no content, before anything is done. @throws WorkspaceError `EINVAL` */
export function assertContent(data: unknown, operation: string, path: string): asserts data is WriteData {
  if (data instanceof Uint8Array) return
  if (typeof data === 'object' && data !== null && Symbol.asyncIterator in data) return
  const reason = 'was given content that is neither bytes nor a stream of bytes'
  throw invalidArgument(operation, path, reason, 'pass a Uint8Array')
}

/** For adapters: refuses to give more than `maxBytes` at once. @throws WorkspaceError `EFBIG` */
export function checkReadSize(operation: string, path: string, size: number, maxBytes: number | undefined): void {
  if (maxBytes === undefined || size <= maxBytes) return
  throw new WorkspaceError({
    code: 'EFBIG',
    operation,
    path,
    reason: `is too large to be read at once: ${size} bytes, and \`maxBytes\` is ${maxBytes}`,
    remedy: 'use `readStream`, or read a part of it with `range`',
  })
}
