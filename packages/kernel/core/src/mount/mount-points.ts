import { isWorkspaceError } from '../errors.ts'
import type { StorageAdapter } from '../contract/adapter.ts'
import { childPath, isWithin, mountRoot, relativeTo, rootPath } from '../path/virtual-path.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import { translateError, virtualError } from './errors.ts'
import type { WorkspaceMount } from './mounts.ts'

/** Creates mount points in the surrounding mounts, for listings. Runs again before commands, since commands can delete mount points. */
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

/** Maximum entries of a store's root to list, before single names are looked up. */
const mostListed = 1000

/** Returns which of these names exist in the mount at `/`. Does not check rules. */
export async function takenNames(
  mounts: readonly WorkspaceMount[],
  names: readonly string[],
): Promise<readonly string[]> {
  const adapter = mounts.find(({ at }) => at === rootPath)?.adapter
  const found = adapter === undefined || names.length === 0 ? new Set<string>() : await entriesOf(adapter, names)
  return names.filter((name) => found.has(name))
}

/** Lists the root first: a listing of a bucket takes one request, a missing name several. */
async function entriesOf(adapter: StorageAdapter, names: readonly string[]): Promise<Set<string>> {
  const found = new Set<string>()
  const { hostPath, inProcess } = adapter.capabilities
  try {
    if (!hostPath && inProcess !== true) {
      let left = mostListed
      for await (const { name } of adapter.list(mountRoot)) {
        found.add(name)
        if (--left === 0) break
      }
      if (left > 0) return found
    }
    for (const name of await Promise.all(names.map((one) => ifThere(adapter, one)))) if (name) found.add(name)
    return found
  } catch (error) {
    throw translateError(error, { operation: 'open', at: rootPath, path: rootPath })
  }
}

async function ifThere(adapter: StorageAdapter, name: string): Promise<string | undefined> {
  try {
    await adapter.stat(childPath(mountRoot, name))
    return name
  } catch (error) {
    if (isWorkspaceError(error, 'ENOENT')) return undefined
    throw error
  }
}

/** Throws `EBUSY` if an entry has one of the names now. */
export async function requireNames(mounts: readonly WorkspaceMount[], names: readonly string[]): Promise<void> {
  const [taken] = await takenNames(mounts, names)
  if (taken === undefined) return
  throw virtualError({
    code: 'EBUSY',
    operation: 'exec',
    path: childPath(rootPath, taken),
    reason: 'has appeared in the workspace, and commands need that name for the system',
    remedy: 'mount the project at `/workspace`',
  })
}
