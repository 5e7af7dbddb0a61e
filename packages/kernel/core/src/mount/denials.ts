import type { WorkspaceError } from '../errors.ts'
import { rootPath } from '../path/virtual-path.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import { mountRuleName } from '../policy/namespace.ts'
import type { Need } from '../contract/operations.ts'
import type { Decision } from '../contract/policy.ts'
import { virtualError } from './errors.ts'

export function denialError(
  operation: string,
  path: VirtualPath,
  { code, rule, reason, remedy }: Extract<Decision, { effect: 'deny' }>,
): WorkspaceError {
  return virtualError({ code, operation, path, rule, reason, remedy })
}

const isSystems = 'is a name that commands have from the system'
const elsewhere = 'use another name, or mount the project at `/workspace`'

export const systemDenial: Decision = {
  effect: 'deny',
  code: 'EROFS',
  rule: mountRuleName(rootPath),
  reason: isSystems,
  remedy: elsewhere,
}

export function reservedError(operation: string, path: VirtualPath, need: Need): WorkspaceError {
  return need === 'write'
    ? virtualError({
        code: 'EBUSY',
        operation,
        path,
        reason: isSystems,
        remedy: elsewhere,
      })
    : virtualError({
        code: 'ENOENT',
        operation,
        path,
        reason: 'does not exist: the name is reserved for the system',
      })
}
