import { createHash, randomBytes } from 'node:crypto'
import { chmod, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'

import { failure } from '../errors.ts'
import { mountAt } from './mount-table.ts'
import type { CheckedOptions } from '../options.ts'

const operation = 'createRcloneAdapter'

export interface MountDirectories {
  /** The directory of this mount. Other users may traverse it, but not list it. */
  readonly directory: string
  /** Content that was read, or written and not uploaded yet. The cache outlives processes. */
  readonly cache: string
  /** The configuration. No other user can read it. */
  readonly run: string
  /** A lock that rclone holds while it runs: two processes on one cache would destroy it. */
  readonly lock: string
  readonly mountPoint: string
  /** True if the mount point is a directory of this package, which is removed at the end. */
  readonly ownsMountPoint: boolean
  /** True if all directories can be removed once the mount has ended. */
  readonly temporary: boolean
}

/** Settings whose change does not mean another store. */
const changing = /pass|secret|key|token|cred/i

/** All writable mounts of a store's part share one directory, so that uploads continue. A read-only mount gets its own directory. */
export function directoriesFor(options: CheckedOptions): MountDirectories {
  const { section, bucket, prefix, readOnly } = options
  const identity = Object.entries(section)
    .filter(([name]) => !changing.test(name))
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
  const hash = createHash('sha256')
    .update(JSON.stringify([identity, bucket, prefix]))
    .digest('hex')
    .slice(0, 20)
  const name = readOnly ? `${hash}-ro-${randomBytes(6).toString('hex')}` : hash
  const directory = join(options.directory ?? defaultDirectory(), name)
  return {
    directory,
    cache: join(directory, 'cache'),
    run: join(directory, 'run'),
    lock: join(directory, 'lock'),
    mountPoint: options.mountPoint ?? join(directory, 'mount'),
    ownsMountPoint: options.mountPoint === undefined,
    temporary: readOnly,
  }
}

function defaultDirectory(): string {
  if (process.getuid?.() === 0) return '/var/cache/ws-rclone'
  const base = process.env['XDG_CACHE_HOME']
  return join(base?.startsWith('/') === true ? base : join(homedir(), '.cache'), 'ws-rclone')
}

/** Mode of directories that commands' user passes through on the way to the mount. */
const passable = 0o711

/** Makes missing directories, and touches no mount. @throws WorkspaceError `EROFS`, `ENOSPC`, `EBACKEND`, `ENOTEMPTY`, `EBUSY` */
export async function prepareDirectories(place: MountDirectories): Promise<void> {
  try {
    await makeDirectory(dirname(place.directory), passable)
    await makeDirectory(place.directory, passable)
    await makeDirectory(place.cache, 0o700)
    await rm(place.run, { recursive: true, force: true })
    await makeDirectory(place.run, 0o700)
    await writeFile(join(place.run, 'probe'), 'x') // fails now if the disk is full
    await rm(join(place.run, 'probe'))
    if (place.ownsMountPoint && !isMounted(place)) await makeDirectory(place.mountPoint, closedMode())
  } catch (error) {
    throw unusable(error)
  }
  await checkMountPoint(place)
}

/** The mode of an unmounted mount point: if the mount is missing for a moment, no program can write below it. */
function closedMode(): number {
  return process.getuid?.() === 0 ? 0o555 : 0o700
}

function isMounted({ mountPoint }: MountDirectories): boolean {
  return mountAt(mountPoint) !== undefined
}

async function checkMountPoint({ directory, mountPoint, ownsMountPoint }: MountDirectories): Promise<void> {
  const mounted = mountAt(mountPoint)
  if (mounted !== undefined) {
    // The next mount takes the lock, and clears the mount of a killed process. Mounts of other programs remain.
    if (ownsMountPoint || (mounted.fileSystem === 'fuse.rclone' && mounted.source === mountSource)) return
    throw failure('EBUSY', 'something else is mounted at the mount point', { operation, remedy: 'name another one' })
  }
  let names: string[]
  try {
    names = await readdir(mountPoint)
  } catch (native) {
    const remedy = 'create the directory, or leave `mountPoint` out'
    throw failure('ENOTDIR', 'the mount point is not a readable directory', { operation, remedy, native })
  }
  if (names.length === 0) return
  if (ownsMountPoint) {
    // Root wrote to the mount point while the mount was missing, since no mode stops root. The files are kept in another directory.
    await rename(mountPoint, join(directory, `stray-${randomBytes(6).toString('hex')}`))
    await makeDirectory(mountPoint, closedMode())
    return
  }
  throw failure('ENOTEMPTY', 'the mount point is not empty', { operation, remedy: 'name an empty directory' })
}

/** The device's name in the mount table. Sandboxes can see it, so it must not name the bucket. */
export const mountSource = 'workspace'

/** Makes a directory and missing parents. (Node's recursive mkdir reports a read-only disk as "not found".) */
async function makeDirectory(path: string, mode: number): Promise<void> {
  try {
    await mkdir(path)
    await chmod(path, mode) // under any umask
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return
    if (code !== 'ENOENT' || dirname(path) === path) throw error
    await makeDirectory(dirname(path), passable)
    await makeDirectory(path, mode)
  }
}

function unusable(native: unknown): Error {
  const code = (native as NodeJS.ErrnoException).code
  const remedy = 'name a `directory` on a local disk that this user can write to'
  if (code === 'EROFS') {
    return failure('EROFS', 'the directory for the cache is on a read-only file system', { operation, remedy, native })
  }
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    const free = 'free some space there, or name another `directory`'
    return failure('ENOSPC', 'no space is left for the cache', { operation, remedy: free, native })
  }
  return failure('EBACKEND', 'the directory for the cache cannot be used', { operation, remedy, native })
}

/** Removes files that are useless without the mount. The cache remains, unless everything was temporary. */
export async function clearDirectories(place: MountDirectories): Promise<void> {
  await rm(place.run, { recursive: true, force: true })
  if (mountAt(place.mountPoint) !== undefined) return
  if (place.temporary) await rm(place.directory, { recursive: true, force: true })
  else if (place.ownsMountPoint) await rm(place.mountPoint, { recursive: true, force: true })
}
