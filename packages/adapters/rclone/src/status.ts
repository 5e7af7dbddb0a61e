import { paths } from '@ws/core'

import { readStats } from './control/stats.ts'
import type { DirtyFiles } from './cache/dirty.ts'
import type { Mount, MountState } from './mount/mount.ts'
import { show } from './program/features.ts'

export interface RcloneStatus {
  readonly state: MountState
  /** The version of rclone. */
  readonly version: string
  /** Files of this adapter that the store does not have yet, the open ones included. */
  readonly dirtyFiles: number
  /** The uploads of the whole mount; `undefined` while rclone does not answer. */
  readonly uploads: { readonly running: number; readonly queued: number; readonly failing: number } | undefined
  /** The cache of the whole mount; `undefined` while rclone does not answer. */
  readonly cache: { readonly files: number; readonly bytes: number; readonly outOfSpace: boolean } | undefined
}

export async function statusOf(mount: Mount, dirty: DirtyFiles | undefined): Promise<RcloneStatus> {
  const version = show(mount.program.version)
  const dirtyFiles = (await dirty?.count()) ?? 0
  const call = { operation: 'status', path: paths.mountRoot }
  try {
    const { control, process } = mount.runningNow(call)
    const { uploading, queued, files, bytes, outOfSpace } = await readStats(control, { timeout: 2_000 })
    const uploads = { running: uploading, queued, failing: process.log.failing.size }
    return { state: mount.state, version, dirtyFiles, uploads, cache: { files, bytes, outOfSpace } }
  } catch {
    // rclone does not answer, and the status must report that
    return { state: mount.state, version, dirtyFiles, uploads: undefined, cache: undefined }
  }
}
