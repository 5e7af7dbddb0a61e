import type { ErrorCode, PartialProgress } from '@ws/core'
import { shortages } from '@ws/core/executor'

/** A failure in the worker. The main thread converts it to a `WorkspaceError`, so that the worker loads less code. */
export class Failure extends Error {
  readonly code: ErrorCode
  readonly reason: string
  readonly remedy: string | undefined
  readonly native: unknown
  readonly partial: PartialProgress | undefined

  constructor({ code, reason, remedy, native, partial }: FailureOptions) {
    super(reason)
    this.code = code
    this.reason = reason
    this.remedy = remedy
    this.native = native
    this.partial = partial
  }
}

export interface FailureOptions {
  readonly code: ErrorCode
  readonly reason: string
  readonly remedy?: string | undefined
  readonly native?: unknown
  readonly partial?: PartialProgress | undefined
}

export function failed(code: ErrorCode, reason: string, remedy?: string, native?: unknown): Failure {
  return new Failure({ code, reason, remedy, native })
}

export function nativeCode(error: unknown): string | undefined {
  return typeof error === 'object' && error !== null ? (error as NodeJS.ErrnoException).code : undefined
}

/** Returns whether a system error concerns a single entry, unlike a shortage of descriptors, memory or space. */
export function isOfOneEntry(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && shortages.of(error) === undefined
}

const sqliteCodes = { busy: 5, readOnly: 8, ioError: 10, corrupt: 11, full: 13, notADatabase: 26 } as const

/** Converts an error of the disk or SQLite to a failure without host paths. */
export function nativeFailure(error: unknown): Failure {
  if (error instanceof Failure) return error
  const sqlite = (error as { readonly errcode?: number }).errcode
  if (sqlite !== undefined) return sqliteFailure(sqlite & 0xff, error)
  const shortage = shortages.of(error)
  if (shortage !== undefined) return failed(shortage.code, shortage.reason, shortage.remedy, error)
  const code = nativeCode(error)
  if (code === 'EROFS' || code === 'EACCES' || code === 'EPERM')
    return failed('EACCES', 'the state directory or the mount may not be written to', 'look at its permissions', error)
  return failed('EIO', 'the disk failed in an unexpected way', 'try again; if it stays, tell the operator', error)
}

function sqliteFailure(code: number, native: unknown): Failure {
  if (code === sqliteCodes.busy) {
    return failed(
      'EBUSY',
      'the state directory is open already, in this process or in another one',
      'close that one first, or give each a `stateDirectory` of its own',
      native,
    )
  }
  if (code === sqliteCodes.full) return fullDisk(native)
  if (code === sqliteCodes.corrupt || code === sqliteCodes.notADatabase) {
    return failed(
      'EIO',
      'the index in the state directory is damaged',
      'move the state directory away; the files of the workspace are not touched',
      native,
    )
  }
  if (code === sqliteCodes.readOnly)
    return failed('EACCES', 'the state directory may not be written to', 'look at its permissions', native)
  return failed(
    'EIO',
    'the index in the state directory cannot be used',
    'look at the disk of the state directory',
    native,
  )
}

function fullDisk(native: unknown): Failure {
  return failed(
    'ENOSPC',
    'the disk of the state directory is full, and nothing was saved',
    'free space there, or lower `maxBytes`',
    native,
  )
}
