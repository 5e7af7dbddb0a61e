import type { ByteRange } from '../adapter/types.ts'
import { virtualError } from './errors.ts'

/** @throws WorkspaceError `EINVAL` unless `value` is a whole number of at least `least`. */
export function checkCount(name: string, value: unknown, least: number, path?: string): asserts value is number {
  if (Number.isSafeInteger(value) && (value as number) >= least) return
  throw virtualError({
    code: 'EINVAL',
    operation: 'arguments',
    path,
    reason: `\`${name}\` must be a whole number of at least ${least}, not \`${String(value)}\``,
    remedy: `pass \`${name}\` as a number`,
  })
}

export function checkRange({ offset, length }: ByteRange, path: string): void {
  checkCount('range.offset', offset, 0, path)
  if (length !== undefined) checkCount('range.length', length, 0, path)
}

/** @throws WorkspaceError `EINVAL` when an option is neither absent nor of its type. */
export function checkOption(name: string, value: unknown, type: 'string' | 'boolean' | 'function' | 'object'): void {
  if (value === undefined || (typeof value === type && value !== null)) return
  throw virtualError({
    code: 'EINVAL',
    operation: 'arguments',
    reason: `\`${name}\` must be a ${type}, not ${value === null ? 'null' : typeof value}`,
    remedy: `pass \`${name}\` as a ${type}, or leave it out`,
  })
}
