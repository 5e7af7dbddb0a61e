import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'

import { paths } from '@ws/core'
import type { SignalOption } from '@ws/core/adapter'

import { type RcloneAdapter, openAdapter } from '../adapter.ts'
import { failure } from '../errors.ts'
import { refuseChangedName } from '../names.ts'
import { Mount } from '../mount/mount.ts'
import { type RcloneAdapterOptions, checkMountOptions } from '../options.ts'
import { refreshMount } from '../refresh.ts'
import { type RcloneStatus, statusOf } from '../status.ts'

/** One mount for many adapters. Each adapter shows only one part of the mount. */
export interface RcloneBucket extends AsyncDisposable {
  /** A part of the bucket as a separate adapter. The adapter's `close()` flushes that part, and keeps the mount. */
  adapter(prefix: string): Promise<RcloneAdapter>
  /** Makes all adapters see changes that other writers made in the store before this call. */
  refresh(options?: SignalOption): Promise<void>
  status(): Promise<RcloneStatus>
  /** Closes all adapters, flushing each, and unmounts. */
  close(): Promise<void>
}

const operation = 'openRcloneBucket'

/** Mounts a bucket once for many workspaces. A prefix inside another adapter's prefix is refused. @throws as `createRcloneAdapter` */
export async function openRcloneBucket(options: RcloneAdapterOptions): Promise<RcloneBucket> {
  const mount = await Mount.open(checkMountOptions(options), options.signal)
  const open = new Map<string, RcloneAdapter>()
  let closing: Promise<void> | undefined
  let mustForce = false

  const adapter = async (prefix: string): Promise<RcloneAdapter> => {
    const path = paths.parseMount(`/${prefix.replace(/^\/+|\/+$/g, '')}`, operation)
    if (path === paths.mountRoot) {
      throw failure('EINVAL', 'the prefix is empty', { operation, remedy: 'name the part that is to be seen' })
    }
    refuseChangedName(operation, path)
    const below = `${path.slice(1)}/`
    const call = { operation, path: paths.mountRoot }
    const { mountPoint } = mount.place
    await mount.running(call)
    await mount.track(call, () => mkdir(join(mountPoint, below), { recursive: true }))
    const made = await openAdapter(mount, below, async ({ force }) => {
      mustForce ||= force
      open.delete(below)
    })
    open.set(below, made)
    return made
  }
  const close = async (): Promise<void> => {
    const ended = await Promise.allSettled([...open.values()].map((one) => one.close()))
    await mount.close({ force: mustForce })
    const failed = ended.find((one) => one.status === 'rejected')
    if (failed !== undefined) throw failed.reason
  }
  const bucket: RcloneBucket = {
    adapter,
    async refresh({ signal } = {}) {
      const call = { operation: 'refresh', path: paths.mountRoot }
      const { control } = await mount.running(call)
      const { attributeCache } = mount.options.timeouts
      await mount.track(call, () => refreshMount(control, { below: '', attributeCache, signal }))
    },
    status: () => statusOf(mount, undefined),
    close: () => (closing ??= close()),
    [Symbol.asyncDispose]: () => bucket.close(),
  }
  return bucket
}
