import { WorkspaceError } from '../../errors.ts'
import { assertMountPath, maxPathBytes, type MountPath } from '../../path/virtual-path.ts'
import { invalidArgument } from '../failures.ts'
import type { ByteRange, SearchQuery } from '../types.ts'

/** @throws WorkspaceError `ENAMETOOLONG`, and the errors of `assertMountPath` */
export function checkPath(path: string, operation: string, most: number): asserts path is MountPath {
  assertMountPath(path, operation)
  // a character of UTF-16 takes three bytes at most
  if (path.length * 3 <= most) return
  const bytes = utf8Length(path)
  if (bytes <= most) return
  const reason = `is ${bytes} bytes long; the limit here is ${most}`
  throw new WorkspaceError({ code: 'ENAMETOOLONG', operation, path, reason, remedy: 'use a shorter path' })
}

/** @throws WorkspaceError `EINVAL` */
export function checkRange(range: ByteRange | undefined, operation: string, path: string): void {
  if (range === undefined) return
  const { offset, length = 0 } = range
  if (isCount(offset) && isCount(length)) return
  throw invalidArgument(
    operation,
    path,
    'cannot be read in that range',
    'give offset and length as whole numbers from 0',
  )
}

/** @throws WorkspaceError `EINVAL`, `ENAMETOOLONG` */
export function checkTarget(target: unknown, path: string): asserts target is string {
  const operation = 'createSymlink'
  const remedy = 'give the path that the link is to lead to'
  if (typeof target !== 'string' || target === '') throw invalidArgument(operation, path, 'has an empty target', remedy)
  if (target.includes('\0') || !target.isWellFormed()) {
    throw invalidArgument(operation, path, 'has a target that no path can be', remedy)
  }
  if (utf8Length(target) <= maxPathBytes) return
  const reason = `has a target of more than ${maxPathBytes} bytes`
  throw new WorkspaceError({ code: 'ENAMETOOLONG', operation, path, reason })
}

/** @throws WorkspaceError `EINVAL` */
export function checkLimits({ in: path, maxHits, maxFileBytes }: SearchQuery): void {
  for (const limit of [maxHits, maxFileBytes]) {
    if (limit === undefined || limit >= 0) continue
    throw invalidArgument('search', path, 'was given a `limit` that is not a number from 0')
  }
}

function utf8Length(text: string): number {
  return new TextEncoder().encode(text).length
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
