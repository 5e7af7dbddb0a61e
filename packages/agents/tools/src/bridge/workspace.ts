import { WorkspaceError } from '@ws/core'
import type { Workspace } from '@ws/core'
import { hasMethods } from '@ws/core/options'

/** True for a workspace, also if another copy of `@ws/core` made it. */
export function isWorkspace(given: unknown): given is Workspace {
  return hasMethods(given, 'read', 'write', 'exec', 'explain')
}

/** Checks the first argument of a bridge. @throws WorkspaceError `EINVAL` for other values */
export function checkWorkspace(given: unknown, operation: string): asserts given is Workspace {
  if (isWorkspace(given)) return
  throw new WorkspaceError({
    code: 'EINVAL',
    operation,
    reason: 'the workspace must be one that `createWorkspace` made',
    remedy: 'pass the result of `createWorkspace` of @ws/core',
  })
}

export function checkExecutor(workspace: Workspace, operation: string): void {
  if (workspace.executor !== undefined) return
  throw new WorkspaceError({
    code: 'ENOEXECUTOR',
    operation,
    reason: 'the workspace has no executor, so it cannot run commands',
    remedy: 'pass `executors` to `createWorkspace`, or use the part of the bridge for files',
  })
}
