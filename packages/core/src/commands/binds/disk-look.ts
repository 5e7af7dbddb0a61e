import { LinkSignal } from '../../adapter/link-signal.ts'
import { isWorkspaceError } from '../../errors.ts'
import { parentPath, relativeTo } from '../../path/virtual-path.ts'
import type { VirtualPath } from '../../path/virtual-path.ts'
import type { WorkspaceMount } from '../../mount/mounts.ts'

/**
 * The kind of entry at a path now. `below-file`: nothing is there, and nothing can be while a file takes the place of
 * its directory.
 */
export type Found = 'directory' | 'file' | 'missing' | 'below-file' | 'link' | 'other'

/** Looks at a path of a mount without following links. */
export async function lookAt(mount: WorkspaceMount, path: VirtualPath): Promise<Found> {
  if (mount.adapter === undefined) return mount.scratch ? 'directory' : 'missing'
  try {
    const { type } = await mount.adapter.stat(relativeTo(path, mount.at))
    return type === 'symlink' ? 'link' : type
  } catch (error) {
    if (error instanceof LinkSignal) return 'link'
    if (isWorkspaceError(error, 'ENOENT')) return 'missing'
    if (isWorkspaceError(error, 'ENOTDIR')) return 'below-file'
    throw error
  }
}

/** The file that is in the way of a path. `undefined` when it has gone meanwhile. */
export async function findHolder(mount: WorkspaceMount, path: VirtualPath): Promise<VirtualPath | undefined> {
  for (let at = parentPath(path); at !== mount.at && at !== '/'; at = parentPath(at)) {
    const found = await lookAt(mount, at)
    if (found === 'file' || found === 'other') return at
    if (found !== 'below-file') return undefined
  }
  return undefined
}
