import { stat } from 'node:fs/promises'

import { WorkspaceError } from '@ws/core'
import type { VirtualPath } from '@ws/core'
import type { HostDirectory } from '@ws/core/adapter'

/**
 * Commands must not reach the state directory, so it lies in no mount. Every directory on the way to it is compared with the
 * mounts' own, whatever names lead there.
 *
 * @throws WorkspaceError `EINVAL`
 */
export async function refuseStateInside(
  stateDirectory: string,
  directories: ReadonlyMap<VirtualPath, HostDirectory>,
): Promise<void> {
  const roots = new Map([...directories].map(([at, { identity }]) => [identity, at]))
  for (let place = stateDirectory; ; place = place.slice(0, place.lastIndexOf('/')) || '/') {
    // what does not exist yet is in no mount; its parents are looked at
    const status = await stat(place, { bigint: true }).catch(() => undefined)
    const at = status === undefined ? undefined : roots.get(`${status.dev}:${status.ino}`)
    if (at !== undefined) {
      throw new WorkspaceError({
        code: 'EINVAL',
        operation: 'createWorkspace',
        path: at,
        reason: 'holds the state directory of checkpoints, where commands could reach it',
        remedy: 'name a `stateDirectory` outside every mount',
      })
    }
    if (place === '/') return
  }
}
