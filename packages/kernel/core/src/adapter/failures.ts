import { type ErrorCode, WorkspaceError } from '../errors.ts'
import type { WriteData } from '../contract/file-types.ts'

interface Situation {
  readonly code: ErrorCode
  readonly reason: string
  readonly remedy: string
  /** Remedies for single operations, by operation name. They replace the usual remedy. */
  readonly remedies?: Readonly<Record<string, string>>
}

const elsewhere = 'choose another destination, or pass `overwrite: true`'
const madeFirst = 'create the directory first, or pass `parents: true`'

/** Every mistake that a caller can make with any adapter, with the texts of its error. */
const situations = {
  ENOENT: { code: 'ENOENT', reason: 'does not exist', remedy: 'list its directory to see what is there' },
  noParent: {
    code: 'ENOENT',
    reason: 'lies in a directory that does not exist',
    remedy: madeFirst,
    remedies: {
      createDirectory: 'create the directory first, or pass `recursive: true`',
      createSymlink: 'create the directory first',
    },
  },
  EEXIST: {
    code: 'EEXIST',
    reason: 'exists already',
    remedy: 'choose another name',
    remedies: { move: elsewhere, copy: elsewhere },
  },
  ENOTDIR: {
    code: 'ENOTDIR',
    reason: 'is not a directory, or lies below a file',
    remedy: 'look at it, and at the directories above it, with `stat`',
  },
  EISDIR: {
    code: 'EISDIR',
    reason: 'is a directory',
    remedy: 'name a file',
    remedies: { copy: 'pass `recursive: true`' },
  },
  directoryInTheWay: {
    code: 'EISDIR',
    reason: 'is a directory, and a file cannot replace it',
    remedy: 'choose another destination',
  },
  fileInTheWay: {
    code: 'ENOTDIR',
    reason: 'is not a directory, and a directory cannot replace it',
    remedy: 'choose another destination',
  },
  ENOTEMPTY: {
    code: 'ENOTEMPTY',
    reason: 'is a directory that is not empty',
    remedy: 'pass `recursive: true`, or empty it first',
    remedies: { move: 'choose another destination, or empty it first' },
  },
  EROFS: { code: 'EROFS', reason: 'is in a read-only store', remedy: 'write in another store' },
  EBUSY: {
    code: 'EBUSY',
    reason: 'is the root of the store, which stays where it is',
    remedy: 'name an entry below it',
  },
  ECONFLICT: {
    code: 'ECONFLICT',
    reason: 'is not in the state that the condition asks for',
    remedy: 'read it again, then decide',
  },
  noCondition: {
    code: 'ENOTSUP',
    reason: 'cannot be given a condition: the store does not check it',
    remedy: 'leave the condition out, or use another store',
    remedies: { edit: 'read it and write it whole, or use another store' },
  },
  ECLOSED: { code: 'ECLOSED', reason: 'cannot be reached: the adapter is closed', remedy: 'make a new adapter' },
  EACCES: {
    code: 'EACCES',
    reason: 'cannot be used: the permissions of the store do not allow it',
    remedy: 'change the owner or the mode of the entry, or of its directory',
  },
  intoItself: {
    code: 'EINVAL',
    reason: 'lies in the source itself',
    remedy: 'choose a destination outside of the source',
  },
  ontoItself: { code: 'EINVAL', reason: 'is the source itself', remedy: 'choose another destination' },
  notALink: { code: 'EINVAL', reason: 'is not a symbolic link', remedy: 'look at its type with `stat`' },
  notAFile: {
    code: 'EINVAL',
    reason: 'is neither a file nor a directory, but a FIFO, a socket or a device',
    remedy: 'name a regular file',
  },
} satisfies Readonly<Record<string, Situation>>

export type ContractCode = keyof typeof situations

/** For adapters: the error for a situation that the contract names. `native` is the store's own message, for operators. */
export function contractError(
  situation: ContractCode,
  operation: string,
  path: string,
  native?: unknown,
): WorkspaceError {
  const { code, reason, remedy, remedies }: Situation = situations[situation]
  return new WorkspaceError({ code, operation, path, reason, remedy: remedies?.[operation] ?? remedy, native })
}

export function invalidArgument(operation: string, path: string, reason: string, remedy?: string): WorkspaceError {
  return new WorkspaceError({ code: 'EINVAL', operation, path, reason, remedy })
}

/** For adapters: refuses content that is neither bytes nor an async iterable. @throws WorkspaceError `EINVAL` */
export function assertContent(data: unknown, operation: string, path: string): asserts data is WriteData {
  if (data instanceof Uint8Array) return
  if (typeof data === 'object' && data !== null && Symbol.asyncIterator in data) return
  const reason = 'was given content that is neither bytes nor a stream of bytes'
  throw invalidArgument(operation, path, reason, 'pass a Uint8Array')
}

/** For adapters: refuses a file that is larger than `maxBytes`. @throws WorkspaceError `EFBIG` */
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
