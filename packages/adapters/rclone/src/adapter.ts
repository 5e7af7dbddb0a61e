import { defineAdapter, type AdapterOptions } from '@ws/core/adapter'

import { RcloneDriver } from './driver.ts'
import type { Mount } from './mount/mount.ts'
import type { OnClose } from './part/close.ts'
import type { FlushOptions } from './part/flush.ts'
import { type Offering, openFiles } from './part/opened.ts'
import type { RcloneStatus } from './status.ts'

/** A part of a store as rclone mounts it. Made by `createRcloneAdapter`, or by a bucket's `adapter`. */
export interface RcloneAdapter extends Offering<'append' | 'search' | 'hostPath' | 'hostDirectory' | 'createScratch'> {
  /**
   * Resolves when the store contains every earlier change that was acknowledged, whether by this adapter or to commands.
   *
   * @throws WorkspaceError `EBUSY` (a file is open for writing), `EBACKEND` and other errors of the store, `ETIMEDOUT`.
   */
  flush(options?: FlushOptions): Promise<void>
  /** Makes calls see changes that other writers made in the store before the refresh. Takes as long as `timeouts.attributeCache`. */
  refresh(options?: AdapterOptions.Refresh): Promise<void>
  /** The state of the mount, and the files that are not in the store yet. Never waits for the mount itself. */
  status(): Promise<RcloneStatus>
  /** Mounts again with the same cache, from any state. @throws WorkspaceError with the reason if that fails */
  recover(): Promise<void>
  /** Flushes, then unmounts. If the flush fails, `close` unmounts and then rejects: the cache keeps the missing files. */
  close(): Promise<void>
}

/** `below`: the part of the mount, which must exist. `onClose`: called at the end of this adapter. */
export async function openAdapter(mount: Mount, below: string, onClose: OnClose): Promise<RcloneAdapter> {
  const driver = new RcloneDriver(mount, below, await openFiles(mount, below), onClose)
  const adapter = Object.assign(defineAdapter(driver, { trusted: true }), {
    status: () => driver.status(),
    recover: () => driver.recover(),
  })
  return adapter as RcloneAdapter // the driver has the methods that the type adds
}
