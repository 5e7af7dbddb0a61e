import type { Version } from '@ws/core'

import type { Handle } from '../confine/handle.ts'
import { isSameEntry, permissionsOf, versionOf } from '../confine/status.ts'
import type { Task } from '../confine/task.ts'
import { nativeCode } from '../errors.ts'
import type { HostName, Status } from '../host/calls.ts'
import { creating } from '../host/constants.ts'
import { under } from '../host/name.ts'
import { giveFile } from './give.ts'
import { newTempName } from '../confine/temp.ts'

/** The mode of new files, before the umask. */
export const fileMode = 0o666

export interface FreshFile {
  readonly directory: Handle
  readonly temp: HostName
  /** Open for writing; -1 once it is closed. */
  fd: number
  /** Permission bits, set regardless of the umask. Default: the bits of any new file. */
  readonly mode?: number | undefined
}

export interface FreshFileOptions {
  /** The entry to replace. Its permission bits are kept. */
  readonly replaces?: Status | undefined
  /** Permission bits if no entry is replaced. Default: the bits of any new file. */
  readonly mode?: number | undefined
}

/** Runs `work` with a fresh file, which is closed and removed in every case. */
export async function withFreshFile<Result>(
  task: Task,
  directory: Handle,
  { replaces, mode }: FreshFileOptions,
  work: (file: FreshFile) => Promise<Result>,
): Promise<Result> {
  const exact = replaces === undefined ? mode : permissionsOf(replaces)
  const temp = under(directory.self, newTempName())
  const file: FreshFile = { directory, temp, mode: exact, fd: await task.calls.open(temp, creating, exact ?? fileMode) }
  try {
    await giveFile(task, file.fd)
    return await work(file)
  } catch (error) {
    await removeQuietly(task, temp)
    throw error
  } finally {
    await closeFresh(task, file)
  }
}

async function removeQuietly({ calls }: Task, name: HostName): Promise<void> {
  try {
    await calls.unlink(name)
  } catch {
    // the file was renamed to its final name, or the directory is gone; the caller must see the original failure
  }
}

async function closeFresh({ calls }: Task, file: FreshFile): Promise<void> {
  if (file.fd < 0) return
  const { fd } = file
  file.fd = -1
  await calls.close(fd)
}

/** How a fresh file gets its name: `new` and `replace` replace any entry; `create` fails with the system's `EEXIST`. */
export type Placing = 'create' | 'replace' | 'new'

export async function putInPlace(task: Task, file: FreshFile, name: HostName, how: Placing): Promise<Version> {
  const written = await distinctStatus(task, file.fd)
  await setMode(task, file, written)
  // FUSE and NFS report failed writes at the close, which must come before the rename.
  if (!task.calls.immediate) await closeFresh(task, file)

  const final = under(file.directory.self, name)
  if (how === 'create') await linkOnce(task, file, final)
  // a replacing rename makes some file systems (ext4) write to disk at once, so the pool does it
  else
    await (how === 'replace' && written.dev !== task.tree.memoryDevice ? task.pooled : task.calls).rename(
      file.temp,
      final,
    )

  const now = file.fd >= 0 ? await task.calls.fstat(file.fd) : await lookAgain(task, final, written)
  // The rename may have changed only the ctime. Any other change belongs to another version.
  const { size, mtimeNs } = written
  return versionOf({ dev: now.dev, ino: now.ino, size, mtimeNs, ctimeNs: now.ctimeNs })
}

/** Sets the permission bits if creation or a copy left other bits. `status`: read since then. */
export async function setMode({ calls }: Task, { fd, mode }: FreshFile, status: Status): Promise<void> {
  if (mode !== undefined && permissionsOf(status) !== mode) await calls.fchmod(fd, mode)
}

let latestMtime = 0n

/**
 * The status of a finished file, with a new time. Kernels count in steps of 4 ms or more, and inodes are reused:
 * quick writes of one size could produce an old version again.
 */
export async function distinctStatus({ calls }: Task, fd: number): Promise<Status> {
  const status = await calls.fstat(fd)
  if (status.mtimeNs > latestMtime) {
    latestMtime = status.mtimeNs
    return status
  }
  const seconds = (performance.timeOrigin + performance.now()) / 1_000
  await calls.futimes(fd, seconds, seconds)
  const changed = await calls.fstat(fd)
  if (changed.mtimeNs > latestMtime) latestMtime = changed.mtimeNs
  return changed
}

async function lookAgain({ calls }: Task, name: HostName, written: Status): Promise<Status> {
  try {
    return await calls.lstat(name)
  } catch {
    return written // the file is gone already, but was written
  }
}

/** Gives the file its name with a hard link. If several processes create the same name, only one of them succeeds. */
async function linkOnce(task: Task, file: FreshFile, final: HostName): Promise<void> {
  try {
    await task.calls.link(file.temp, final)
  } catch (error) {
    if (!isWithoutLinks(error)) throw error
    return await placeWithoutLinks(task, file, final)
  }
  await task.calls.unlink(file.temp)
}

/** Places a file without hard links: an exclusive empty file keeps other writers out until the fresh file replaces it. */
async function placeWithoutLinks({ calls }: Task, file: FreshFile, final: HostName): Promise<void> {
  await calls.close(await calls.open(final, creating, 0o600))
  const placeholder = await calls.lstat(final)
  try {
    await calls.rename(file.temp, final)
  } catch (error) {
    await removePlaceholder(calls, final, placeholder)
    throw error
  }
}

async function removePlaceholder(calls: Task['calls'], final: HostName, placeholder: Status): Promise<void> {
  try {
    const now = await calls.lstat(final)
    if (isSameEntry(now, placeholder) && now.size === 0n) await calls.unlink(final)
  } catch {
    // the placeholder is gone, or cannot be removed: the caller must see the original failure
  }
}

const withoutLinks: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EIO'])

/** Whether link(2) failed because the file system has no hard links. */
export function isWithoutLinks(error: unknown): boolean {
  const code = nativeCode(error)
  return code !== undefined && withoutLinks.has(code)
}
