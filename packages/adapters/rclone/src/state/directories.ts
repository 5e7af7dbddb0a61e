import { createHash, randomBytes } from 'node:crypto'
import { chmod, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'

import { failure } from '../errors.ts'
import { mountAt } from './mount-table.ts'
import type { CheckedOptions } from '../options.ts'

const operation = 'createRcloneAdapter'

/** Where one mount keeps what it needs. */
export interface MountDirectories {
  /** Everything of this mount; others may pass through, and not look. */
  readonly directory: string
  /** Content that was read, or written and not uploaded yet. It outlives processes. */
  readonly cache: string
  /** Configuration, closed to every other user. */
  readonly run: string
  /** Held by rclone as long as it lives: two on one cache would destroy it. */
  readonly lock: string
  readonly mountPoint: string
  /** The mount point is a directory of our own, removed at the end. */
  readonly ownsMountPoint: boolean
  /** Nothing here is worth keeping once the mount is gone. */
  readonly temporary: boolean
}

/** Settings that change without the store being another one. */
const changing = /pass|secret|key|token|cred/i

/** A store's part has one place for all writable mounts, so that uploads go on; a read-only mount gets its own. */
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

/** Makes what is missing; touches no mount. @throws WorkspaceError `EROFS`, `ENOSPC`, `EBACKEND`, `ENOTEMPTY`, `EBUSY` */
export async function prepareDirectories(place: MountDirectories): Promise<void> {
  try {
    await makeDirectory(dirname(place.directory), passable)
    await makeDirectory(place.directory, passable)
    await makeDirectory(place.cache, 0o700)
    await rm(place.run, { recursive: true, force: true })
    await makeDirectory(place.run, 0o700)
    await writeFile(join(place.run, 'probe'), 'x') // a full disk says so here
    await rm(join(place.run, 'probe'))
    if (place.ownsMountPoint && !isMounted(place)) await makeDirectory(place.mountPoint, closedMode())
  } catch (error) {
    throw unusable(error)
  }
  await checkMountPoint(place)
}

/** Should the mount be missing for a moment, nothing can be put below it by mistake. */
function closedMode(): number {
  return process.getuid?.() === 0 ? 0o555 : 0o700
}

function isMounted({ mountPoint }: MountDirectories): boolean {
  return mountAt(mountPoint) !== undefined
}

async function checkMountPoint({ directory, mountPoint, ownsMountPoint }: MountDirectories): Promise<void> {
  const mounted = mountAt(mountPoint)
  if (mounted !== undefined) {
    // The next mount holds the lock, and clears the mount of a killed process. Mounts of other programs stay.
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
    // Root wrote there while the mount was away, since no mode stops root. The files are kept beside it.
    await rename(mountPoint, join(directory, `stray-${randomBytes(6).toString('hex')}`))
    await makeDirectory(mountPoint, closedMode())
    return
  }
  throw failure('ENOTEMPTY', 'the mount point is not empty', { operation, remedy: 'name an empty directory' })
}

/** The device's name in the mount table: it is seen in sandboxes, and must not name the bucket. */
export const mountSource = 'workspace'

/** With what is missing above it. (Node's own way calls a read-only disk "not found".) */
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

/** Removes what is of no use without the mount. The cache stays, unless everything was temporary. */
export async function clearDirectories(place: MountDirectories): Promise<void> {
  await rm(place.run, { recursive: true, force: true })
  if (mountAt(place.mountPoint) !== undefined) return
  if (place.temporary) await rm(place.directory, { recursive: true, force: true })
  else if (place.ownsMountPoint) await rm(place.mountPoint, { recursive: true, force: true })
}
