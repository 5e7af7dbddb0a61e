import { isWorkspaceError } from '../errors.ts'
import { isWithin, relativeTo } from '../path/virtual-path.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import { virtualError } from './errors.ts'
import type { WorkspaceMount } from './mounts.ts'

/**
 * A mount point is a directory of the mount around it, so that its parent lists it at both doors. Made when the workspace
 * is, and again before each command: under a translating executor a command can take the empty directory away.
 */
export async function createMountPoints(mounts: readonly WorkspaceMount[], operation: string): Promise<void> {
  for (const { at, scratch } of mounts) {
    if (scratch) continue
    const around = mounts
      .filter((mount) => mount.at !== at && isWithin(at, mount.at))
      .sort((left, right) => right.at.length - left.at.length)[0]
    if (around?.adapter === undefined) continue
    const path = relativeTo(at, around.at)
    try {
      if ((await around.adapter.stat(path)).type === 'directory') continue
      throw mountPointError(at, operation, 'is not a directory')
    } catch (error) {
      if (!isWorkspaceError(error, 'ENOENT'))
        throw isWorkspaceError(error) ? error : mountPointError(at, operation, 'runs through a link')
    }
    if (around.access === 'read-only') {
      throw mountPointError(at, operation, `does not exist in the read-only mount \`${around.at}\``)
    }
    await around.adapter.createDirectory(path, { recursive: true })
  }
}

/** Whether another mount lies below it. */
export function holdsMount({ at }: WorkspaceMount, mounts: readonly WorkspaceMount[]): boolean {
  return mounts.some((mount) => mount.at !== at && isWithin(mount.at, at))
}

function mountPointError(path: VirtualPath, operation: string, reason: string): Error {
  return virtualError({
    code: 'EINVAL',
    operation,
    path,
    reason: `cannot be a mount point: it ${reason}`,
    remedy: 'make it a real directory first, or mount elsewhere',
  })
}
