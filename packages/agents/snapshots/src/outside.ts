import { WorkspaceError } from '@ws/core'
import type { VirtualPath } from '@ws/core'
import type { HostDirectory } from '@ws/core/adapter'
import { HostPaths } from '@ws/sandbox'

/** Refuses a state directory that commands could reach through a mount, name or link. @throws WorkspaceError `EINVAL` */
export function refuseStateInside(stateDirectory: string, directories: ReadonlyMap<VirtualPath, HostDirectory>): void {
  const roots = new Map([...directories].map(([at, { identity }]) => [identity, at]))
  const at = HostPaths.directoryOnTheWay(stateDirectory, (identity) => roots.get(identity))
  if (at === undefined) return // @defence `if (…) ` saved bytes that a command could read or change: commands could reach it
  throw new WorkspaceError({
    code: 'EINVAL',
    operation: 'createWorkspace',
    path: at,
    reason: 'holds the state directory of checkpoints, where commands could reach it',
    remedy: 'name a `stateDirectory` outside every mount',
  })
}
