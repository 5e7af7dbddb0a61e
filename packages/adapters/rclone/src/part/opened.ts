import { lstat } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { createLocalAdapter } from '@ws/adapter-local'
import { paths } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'

import { DirtyFiles } from '../cache/dirty.ts'
import { failure } from '../errors.ts'
import { type DirectFiles, directFiles } from './direct.ts'
import { CancelledUploads } from '../cache/cancelled-uploads.ts'
import type { Mount } from '../mount/mount.ts'
import type { RunningMount } from '../mount/start.ts'

/** An adapter that is known to have these operations. */
export type Offering<Operation extends keyof StorageAdapter> = StorageAdapter &
  Required<Pick<StorageAdapter, Operation>>

type DiskFiles = Offering<'append' | 'search' | 'createSymlink' | 'readSymlink' | 'hostPath' | 'hostDirectory'>

/** The parts that work while the mount exists. */
export interface Open {
  readonly files: DiskFiles
  /** The files for operations that need no verification. */
  readonly direct: DirectFiles
  readonly running: RunningMount
  /** Host path of the cache's metadata of this part. */
  readonly metadata: string
  /** Host path of the cache's contents of this part. */
  readonly content: string
  readonly dirty: DirtyFiles
  readonly cancelled: CancelledUploads
}

/** Opens a part of a mount. `below`: `""`, or `threads/t1/`, which must exist. */
export async function openFiles(mount: Mount, below: string): Promise<Open> {
  const call = { operation: 'createRcloneAdapter', path: paths.mountRoot }
  const running = mount.runningNow(call)
  const part = below.replace(/\/$/, '')
  const root = join(mount.place.mountPoint, part)
  const { owner } = mount.options
  const metadata = join(running.metadata, part)
  const content = join(running.content, part)
  const cancelled = new CancelledUploads({ cache: mount.place.cache, metadata, content, below })
  const { control, fs } = running
  // settled before a caller lists files that will be removed
  if (await cancelled.settle({ control, fs })) await control.call('vfs/forget')
  const device = await mount.track(call, () => deviceOf(mount.place.mountPoint))
  const made = await mount.track(call, () => createLocalAdapter({ root, owner, io: 'async' }))
  const files = made as DiskFiles // a local adapter has them all
  const direct = mount.features.links ? files : directFiles(files.hostPath(paths.mountRoot), device, files)
  const dirty = new DirtyFiles(metadata, { unfinished: false })
  return { files, direct, running, metadata, content, dirty, cancelled }
}

/** @throws WorkspaceError `EIO` if the mount has ended: its mount point looks like any directory. */
export async function deviceOf(mountPoint: string): Promise<bigint> {
  const gone = (native?: unknown): Error =>
    failure('EIO', 'cannot be reached: the mount is gone', {
      operation: 'createRcloneAdapter',
      remedy: 'call `recover()`',
      native,
    })
  try {
    const { dev } = await lstat(mountPoint, { bigint: true })
    if (dev !== (await lstat(dirname(mountPoint), { bigint: true })).dev) return dev
  } catch (error) {
    throw gone(error) // it names the path of the host
  }
  throw gone()
}
