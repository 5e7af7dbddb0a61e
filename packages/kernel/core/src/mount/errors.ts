import { WorkspaceError, isWorkspaceError, rewriteError } from '../errors.ts'
import type { WorkspaceErrorOptions } from '../errors.ts'
import { shortageOf } from '../shortage.ts'
import { joinPath, rootPath } from '../path/virtual-path.ts'
import type { MountPath, VirtualPath } from '../path/virtual-path.ts'

const virtual = new WeakSet<object>()

/** Makes an error with a virtual path. Errors of adapters have mount paths instead. */
export function virtualError(options: WorkspaceErrorOptions): WorkspaceError {
  const error = new WorkspaceError(options)
  virtual.add(error)
  return error
}

export interface TranslateOptions {
  readonly operation: string
  /** The mount point of the failing adapter; undefined above all mounts. */
  readonly at: VirtualPath | undefined
  /** The path for errors that have none. */
  readonly path: VirtualPath
  readonly signal?: AbortSignal | undefined
}

/** Translates an adapter's error for callers: paths become virtual. Foreign errors become a `WorkspaceError`, except an abort's reason. */
export function translateError(error: unknown, { operation, at, path, signal }: TranslateOptions): unknown {
  if (signal?.aborted && error === signal.reason) return error
  if (isWorkspaceError(error)) {
    if (virtual.has(error)) return error
    const shift = (inside: string): string =>
      at === undefined || at === rootPath || !inside.startsWith('/') ? inside : joinPath(at, inside as MountPath)
    const { partial } = error
    const shifted = rewriteError(error, {
      operation,
      path: error.path === undefined ? path : shift(error.path),
      partial: partial && { ...partial, completed: partial.completed.map(shift), failedAt: shift(partial.failedAt) },
    })
    virtual.add(shifted)
    return shifted
  }
  if (error instanceof Error && (error.name === 'AbortError' || error.name === 'TimeoutError')) return error
  const { code, reason, remedy } = shortageOf(error) ?? {
    code: 'EIO' as const,
    reason: 'the storage failed in an unexpected way',
    remedy: 'try again; if it stays, tell the operator',
  }
  return virtualError({ code, operation, path, reason: `could not be worked on: ${reason}`, remedy, native: error })
}
