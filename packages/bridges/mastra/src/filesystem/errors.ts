import {
  DirectoryNotEmptyError,
  DirectoryNotFoundError,
  FileExistsError,
  FileNotFoundError,
  FilesystemError,
  IsDirectoryError,
  NotDirectoryError,
  PermissionError,
} from '@mastra/core/workspace'
import { isWorkspaceError } from '@ws/core'
import type { ErrorCode } from '@ws/core'

/** The subject of an operation. A missing file and a missing directory have different error classes. */
export type Subject = 'file' | 'directory'

type Make = (path: string, operation: string) => FilesystemError

const permission: Make = (path, operation) => new PermissionError(path, operation)

/** Mastra's error classes by code; all other codes become a plain `FilesystemError`. */
const classes: Readonly<Partial<Record<ErrorCode, Make>>> = {
  EEXIST: (path) => new FileExistsError(path),
  EISDIR: (path) => new IsDirectoryError(path),
  ENOTEMPTY: (path) => new DirectoryNotEmptyError(path),
  EACCES: permission,
  EROFS: permission,
  EBUSY: permission,
  EOUTSIDE: permission,
}

export interface FaultContext {
  readonly operation: string
  readonly path: string
  readonly subject?: Subject | undefined
}

/** Converts a workspace's error to Mastra's class, with the messages of both. Other errors stay unchanged. */
export function toMastraError(error: unknown, { operation, path, subject = 'file' }: FaultContext): unknown {
  if (!isWorkspaceError(error)) return error
  const { code } = error
  const made =
    code === 'ENOENT' || (code === 'ENOTDIR' && subject === 'file')
      ? missing(subject, path)
      : code === 'ENOTDIR'
        ? new NotDirectoryError(path)
        : classes[code]?.(path, operation)
  if (made === undefined) return new FilesystemError(error.message, code, path)
  made.message = `${made.message}. ${error.message}`
  return made
}

export function missing(subject: Subject, path: string): FilesystemError {
  return subject === 'file' ? new FileNotFoundError(path) : new DirectoryNotFoundError(path)
}

/** Runs `work`, and converts the workspace's errors to Mastra's classes. */
export async function inMastraWords<Result>(context: FaultContext, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw toMastraError(error, context)
  }
}
