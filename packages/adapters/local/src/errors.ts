import { type ErrorCode, type PartialProgress, WorkspaceError, isWorkspaceError } from '@ws/core'
import { LinkSignal, type MountPath, contractError } from '@ws/core/adapter'
import { shortages } from '@ws/core/executor'

type ContractCode = Parameters<typeof contractError>[0]

export interface Where {
  readonly operation: string
  readonly path: MountPath
}

export interface FailureDetails {
  readonly remedy?: string | undefined
  readonly native?: unknown
  readonly partial?: PartialProgress | undefined
}

export function failure(
  { operation, path }: Where,
  code: ErrorCode,
  reason: string,
  details: FailureDetails = {},
): WorkspaceError {
  return new WorkspaceError({ code, operation, path, reason, ...details })
}

interface Translation {
  readonly code: ErrorCode
  readonly reason: string
  readonly remedy: string
}

const stillChanging: Translation = {
  code: 'EBUSY',
  reason: 'is being changed or is in use by another process',
  remedy: 'try again; if it stays, end the process that holds it',
}
const unsupported: Translation = {
  code: 'ENOTSUP',
  reason: 'is not supported by this file system',
  remedy: 'keep the workspace on a local disk',
}
const gone: Translation = {
  code: 'EIO',
  reason: 'cannot be reached: its file system does not answer',
  remedy: 'check the mount',
}

const translations = new Map<string, Translation>(
  Object.entries<Translation>({
    EINVAL: { code: 'EINVAL', reason: 'is not accepted by the file system', remedy: 'use another name' },
    EILSEQ: { code: 'EINVAL', reason: 'has a name that this file system cannot hold', remedy: 'use another name' },
    ENAMETOOLONG: { code: 'ENAMETOOLONG', reason: 'is too long for this file system', remedy: 'use a shorter path' },
    EROFS: {
      code: 'EROFS',
      reason: 'is on a read-only file system',
      remedy: 'write elsewhere, or let the operator mount it for writing',
    },
    EBUSY: {
      code: 'EBUSY',
      reason: 'is in use by the system, a mount point for instance',
      remedy: 'leave it where it is, and change what is in it',
    },
    EFBIG: { code: 'EFBIG', reason: 'is larger than this file system allows', remedy: 'write less, or several files' },
    EXDEV: {
      code: 'ENOTSUP',
      reason: 'cannot be moved between two file systems',
      remedy: 'copy it, then delete the original',
    },
    EMLINK: {
      code: 'ENOTSUP',
      reason: 'has as many links as this file system allows',
      remedy: 'make it in another directory',
    },
    ETIMEDOUT: { code: 'ETIMEDOUT', reason: 'took too long', remedy: 'try again' },
    EAGAIN: stillChanging,
    ELOOP: stillChanging,
    ESTALE: stillChanging,
    ETXTBSY: stillChanging,
    ENOTSUP: unsupported,
    EOPNOTSUPP: unsupported,
    ENOSYS: unsupported,
    ENOTCONN: gone,
    ENODEV: gone,
    ENXIO: gone,
    EHOSTDOWN: gone,
  }),
)

/** Errors of the operating system whose wording the contract defines. */
const contracts = new Map<string, ContractCode>([
  ['ENOENT', 'ENOENT'],
  ['EEXIST', 'EEXIST'],
  ['ENOTDIR', 'ENOTDIR'],
  ['EISDIR', 'EISDIR'],
  ['ENOTEMPTY', 'ENOTEMPTY'],
  ['EACCES', 'EACCES'],
  ['EPERM', 'EACCES'],
])

export function contractFailure({ operation, path }: Where, situation: ContractCode, native?: unknown): WorkspaceError {
  return contractError(situation, operation, path, native)
}

/** The code of an error of the operating system, else `undefined`. */
export function nativeCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

/** Translates an error of the operating system into a `WorkspaceError` with the mount's path. Other errors are returned unchanged. */
export function translate(error: unknown, where: Where): unknown {
  if (error instanceof LinkSignal || isWorkspaceError(error)) return error
  const shortage = shortages.of(error)
  if (shortage !== undefined)
    return failure(where, shortage.code, `cannot be worked on: ${shortage.reason}`, {
      remedy: shortage.remedy,
      native: error,
    })
  const code = nativeCode(error)
  if (code === undefined) return error
  const situation = contracts.get(code)
  if (situation !== undefined) return contractFailure(where, situation, error)
  const known = translations.get(code)
  if (known !== undefined) return failure(where, known.code, known.reason, { remedy: known.remedy, native: error })
  const remedy = 'try again; if it stays, let the operator check the disk'
  return failure(where, 'EIO', 'could not be worked on: the file system reports an error', { remedy, native: error })
}

/** True for an error about resources. Such an error does not reveal that a link is on the path. */
export function isResourceError(error: unknown): boolean {
  const code = nativeCode(error)
  return code === 'EMFILE' || code === 'ENFILE' || code === 'ENOMEM' || code === 'EIO' || code === 'ENOTCONN'
}
