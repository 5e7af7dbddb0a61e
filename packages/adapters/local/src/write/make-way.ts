import { utimes } from 'node:fs/promises'

import type { MountPath } from '@ws/core/adapter'
import { Reserve } from '@ws/sandbox'

import { type Handle, openChild, release, statusOf } from '../confine/handle.ts'
import { nameOf, openParent } from '../confine/open.ts'
import { isReserved, reservedAbove } from '../confine/hidden.ts'
import { type Target, type Task, targetOf } from '../confine/task.ts'
import { contractFailure, nativeCode } from '../errors.ts'
import { under } from '../host/name.ts'

export interface WayOptions {
  readonly parents?: boolean | undefined
  /** True if the new entry is a directory. A reserved name already is a directory, and remains for the mounts of commands. */
  readonly directory?: boolean | undefined
}

/**
 * Removes reserved names that a new entry replaces. Commands that mask those names end with `EIO`, unless the entry is a directory.
 * Returns `undefined` if no name is reserved, and resolves to true if the directory exists now.
 */
export function makeWay(task: Task, path: MountPath, options: WayOptions = {}): Promise<boolean> | undefined {
  const reserved = Reserve.reservedNames.empty ? [] : reservedAbove(task.tree, path)
  return reserved.length === 0 ? undefined : giveWay(task, path, reserved, options)
}

async function giveWay(
  task: Task,
  path: MountPath,
  reserved: readonly MountPath[],
  { parents, directory }: WayOptions,
): Promise<boolean> {
  let adopted = false
  for (const at of reserved) {
    const target = targetOf(task, at)
    if (at === path && directory !== true) {
      await vacateBelow(task, path)
    } else if (at === path || parents === true) {
      // Below a removed file, every further name is new.
      adopted = (await adopt(task, target)) && at === path
    } else {
      throw contractFailure(targetOf(task, path), 'noParent')
    }
  }
  return adopted
}

/** Removes placeholders at and below a path. Returns whether any existed. */
export async function vacateBelow(task: Task, path: MountPath): Promise<boolean> {
  const below = task.tree.hostPath(path).length
  const places = Reserve.reservedNames.within(task.tree.hostPath(path))
  for (const place of places) await vacate(task, targetOf(task, (path + place.slice(below)) as MountPath))
  return places.length > 0
}

async function vacate(task: Task, target: Target): Promise<void> {
  await withReserved(task, target, async (child, parent) => await remove(task, target, child, parent))
}

async function remove(task: Task, target: Target, { isFile }: ReservedHandle, parent: Handle): Promise<void> {
  Reserve.reservedNames.forget(task.tree.hostPath(target.path))
  const name = under(parent.self, nameOf(target))
  try {
    await (isFile ? task.calls.unlink(name) : task.calls.rmdir(name))
  } catch (error) {
    // Another obstacle is no reserved name, and the caller reports it.
    const code = nativeCode(error)
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST', 'ENOTDIR', 'EISDIR'].includes(code ?? '')) throw error
  }
}

/** Turns a reserved directory into a real directory. False if it is gone, or was a file, which is removed. */
async function adopt(task: Task, target: Target): Promise<boolean> {
  let isThere = false
  await withReserved(task, target, async (child, parent) => {
    if (child.isFile) {
      await remove(task, target, child, parent)
      return
    }
    Reserve.reservedNames.forget(task.tree.hostPath(target.path))
    await task.calls.chmod(child.self, 0o777 & ~process.umask())
    const now = new Date()
    await utimes(child.self, now, now)
    // The directory may have been removed at the same moment.
    isThere = (await task.calls.lookUp(under(parent.self, nameOf(target)))) !== undefined
  })
  return isThere
}

interface ReservedHandle extends Handle {
  readonly isFile: boolean
}

async function withReserved(
  task: Task,
  target: Target,
  work: (child: ReservedHandle, parent: Handle) => Promise<void>,
): Promise<void> {
  const parent = await openParent(task, target)
  try {
    const child = await openChild(task, parent, nameOf(target))
    try {
      const status = await statusOf(task, child)
      if (isReserved(status, child.self)) await work({ ...child, isFile: status.isFile() }, parent)
    } finally {
      await release(task, child)
    }
  } catch (error) {
    if (nativeCode(error) !== 'ENOENT') throw error
  } finally {
    await release(task, parent)
  }
}
