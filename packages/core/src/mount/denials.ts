import type { WorkspaceError } from '../errors.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import type { Need } from '../adapter/operations.ts'
import type { Decision } from '../policy/types.ts'
import { virtualError } from './errors.ts'

export function denialError(
  operation: string,
  path: VirtualPath,
  { code, rule, reason, remedy }: Extract<Decision, { effect: 'deny' }>,
): WorkspaceError {
  return virtualError({ code, operation, path, rule, reason, remedy })
}

export function reservedError(operation: string, path: VirtualPath, need: Need): WorkspaceError {
  return need === 'write'
    ? virtualError({
        code: 'EBUSY',
        operation,
        path,
        reason: 'is a name that the system needs',
        remedy: 'use another name, or mount the project at `/workspace`',
      })
    : virtualError({
        code: 'ENOENT',
        operation,
        path,
        reason: 'does not exist: the name is reserved for the system',
      })
}
