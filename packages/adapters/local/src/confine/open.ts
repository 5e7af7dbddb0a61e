import { paths } from '@ws/core'
import type { MountPath } from '@ws/core/adapter'

import { contractFailure, failure, isResourceError } from '../errors.ts'
import { anyDirectory, anyEntry } from '../host/constants.ts'
import { type Handle, handleOf, release, statusOf } from './handle.ts'
import { isReserved } from './hidden.ts'
import type { Target, Task } from './task.ts'
import { findObstacle, throwLink } from './walk.ts'

/** Limit of attempts to open an entry whose descriptor shows another path, after a replacement or a rename. */
const attempts = 40

export async function openEntry(task: Task, target: Target): Promise<Handle> {
  return await openVerified(task, target, target.path, 'entry')
}

/** Opens a directory. Throws `LinkSignal` for a link and `ENOTDIR` for another entry. */
export async function openDirectory(task: Task, target: Target): Promise<Handle> {
  return await openVerified(task, target, target.path, 'directory')
}

/** Opens the directory that holds a path. The path is not the root. */
export async function openParent(task: Task, target: Target): Promise<Handle> {
  return await openVerified(task, target, paths.parent(target.path), 'parent')
}

/** Opens a regular file without its data. @throws `EISDIR`, `EINVAL` for FIFOs and the like, `LinkSignal` */
export async function openFile(task: Task, target: Target) {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const handle = await openEntry(task, target)
    try {
      const status = await statusOf(task, handle)
      if (isReserved(status, handle.self)) throw contractFailure(target, 'ENOENT')
      if (status.isFile()) return { handle, status }
      if (status.isDirectory()) throw contractFailure(target, 'EISDIR')
      if (!status.isSymbolicLink()) throw notAFile(target)
    } catch (error) {
      await release(task, handle)
      throw error
    }
    await release(task, handle)
    await throwLink(task, target) // returns if it is not a link any more
  }
  throw changing(target)
}

export function notAFile(target: Target): Error {
  return contractFailure(target, 'notAFile')
}

export function changing(target: Target): Error {
  return failure(target, 'EBUSY', 'is being exchanged by another process', { remedy: 'try again' })
}

type Kind = 'entry' | 'directory' | 'parent'

async function openVerified(task: Task, target: Target, path: MountPath, kind: Kind): Promise<Handle> {
  const { tree, calls } = task
  if (!tree.verified) return await openChecked(task, target, path, kind)
  const name = tree.through(path)
  const flags = kind === 'entry' ? anyEntry : anyDirectory
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    let fd = -1
    try {
      const shortcut = attempt === 0 && kind !== 'parent' ? tree.shortcut(path) : undefined
      fd = await calls.open(shortcut ?? name, flags)
    } catch (error) {
      if (isResourceError(error)) throw error
    }
    if (fd >= 0) {
      if (tree.isAt(fd, path)) return handleOf(fd)
      await calls.close(fd)
    }
    // A link or another entry is or was on the path. The walk throws the right error.
    await findObstacle(task, target, kind)
  }
  throw changing(target)
}

/** Opens an entry without `/proc`. The check precedes the use, so a race can defeat it. */
async function openChecked(task: Task, target: Target, path: MountPath, kind: Kind): Promise<Handle> {
  const { tree, calls } = task
  const self = tree.hostPath(path)
  await findObstacle(task, target, kind)
  if (path !== '/') {
    const parent = tree.hostPath(paths.parent(path))
    if ((await calls.realpath(parent)) !== parent) throw changing(target)
  }
  return { fd: -1, self }
}

/** The last name of a target. `openParent` opens the directory above it. */
export function nameOf({ path }: Target): string {
  return paths.baseName(path)
}
