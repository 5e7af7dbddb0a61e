import { isWorkspaceError, WorkspaceError } from '@ws/core'
import type { MountPath } from '@ws/core/adapter'

import { failure } from '../errors.ts'

export class RootIsGone extends Error {}

const known: ReadonlyMap<unknown, 'ENOENT' | 'EEXIST' | 'ENOTDIR' | 'EISDIR' | 'ENOTEMPTY' | 'EACCES'> = new Map([
  ['ENOENT', 'ENOENT'],
  ['EEXIST', 'EEXIST'],
  ['ENOTDIR', 'ENOTDIR'],
  ['EISDIR', 'EISDIR'],
  ['ENOTEMPTY', 'ENOTEMPTY'],
  ['EACCES', 'EACCES'],
  ['EPERM', 'EACCES'],
])

export function explain(error: unknown, operation: string, path: MountPath): unknown {
  if (isWorkspaceError(error)) return error
  if (error instanceof RootIsGone) {
    const reason = 'lies in a volume whose root directory is gone'
    const remedy = 'make the directory that was passed as `root` in the volume'
    return new WorkspaceError({ code: 'ENOWORKSPACE', operation, path: '/', reason, remedy })
  }
  const code = known.get(codeOf(error))
  return code === undefined ? error : failure(code, operation, path, error)
}

export function isMissing(error: unknown): boolean {
  const code = codeOf(error)
  return code === 'ENOENT' || code === 'ENOTDIR'
}

export function isForbidden(error: unknown): boolean {
  return known.get(codeOf(error)) === 'EACCES'
}

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown } | null)?.code
}
