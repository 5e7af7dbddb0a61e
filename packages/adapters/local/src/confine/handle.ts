import { constants, lstatSync } from 'node:fs'

import type { HostName, Status } from '../host/calls.ts'
import { anyDirectory, anyEntry } from '../host/constants.ts'
import { pathOfDescriptor } from '../host/calls.ts'
import { under } from '../host/name.ts'
import type { Task } from './task.ts'

/** A verified entry. Do not release it while a pool call uses `self`: the kernel reuses the number of a closed descriptor. */
export interface Handle {
  /** A descriptor opened with `O_PATH`; -1 without `/proc`. */
  readonly fd: number
  /** The kernel's path to this entry, whatever its name is. Without `/proc`: the entry's host path. */
  readonly self: string
}

export function handleOf(fd: number): Handle {
  return { fd, self: pathOfDescriptor(fd) }
}

export async function release({ calls }: Task, { fd }: Handle): Promise<void> {
  if (fd >= 0) await calls.close(fd)
}

export async function statusOf({ calls }: Task, { fd, self }: Handle): Promise<Status> {
  return fd >= 0 ? await calls.fstat(fd) : await calls.lstat(self)
}

export interface ChildOptions {
  /** The entry must be a directory and not a link; otherwise `ENOTDIR`. */
  readonly directory?: boolean
}

/** Opens one component and never follows a link. */
export async function openChild(
  { tree, calls }: Task,
  directory: Handle,
  name: HostName,
  options: ChildOptions = {},
): Promise<Handle> {
  const path = under(directory.self, name)
  if (tree.verified) return handleOf(await calls.open(path, options.directory === true ? anyDirectory : anyEntry))
  const status = await calls.lstat(path)
  if (options.directory === true && !status.isDirectory()) {
    throw Object.assign(new Error('not a directory'), { code: 'ENOTDIR', syscall: 'open' })
  }
  return { fd: -1, self: String(path) }
}

/** Opens a verified file's data. The link in `/proc` leads to the entry itself, not to its name. */
export async function openData({ tree, calls }: Task, { self }: Handle, flags: number): Promise<number> {
  if (tree.verified) return await calls.open(self, flags)
  const before = await calls.lstat(self)
  const fd = await calls.open(self, flags | constants.O_NOFOLLOW)
  const after = await calls.fstat(fd)
  if (before.dev === after.dev && before.ino === after.ino) return fd
  await calls.close(fd)
  throw Object.assign(new Error('exchanged'), { code: 'EAGAIN', syscall: 'open' })
}

/** Whether this system shows the paths of descriptors. */
export function hasProc(): boolean {
  try {
    return process.platform === 'linux' && lstatSync('/proc/self/fd').isDirectory()
  } catch {
    return false
  }
}
