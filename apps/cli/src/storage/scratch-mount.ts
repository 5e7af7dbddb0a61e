import { createScratchAdapter } from '@ws/adapter-local'
import { paths } from '@ws/core'
import type { Owner } from '@ws/core/adapter'

import { loadOptional } from '../optional/load.ts'
import { mountOptionsOf, openMount } from './rclone.ts'
import type { ScratchStore } from './scratch.ts'
import type { RcloneSettings } from './settings.ts'

/** Mounts a scratch part of a bucket. Disposal also removes the cache of the mount. */
export async function createScratchMount(settings: RcloneSettings, owner: Owner): Promise<ScratchStore> {
  const { openRcloneBucket } = await loadOptional('@ws/adapter-rclone')
  const cache = await createScratchAdapter({ owner })
  const name = `ws-check-${crypto.randomUUID()}`
  const below = settings.prefix === '' ? name : `${settings.prefix}/${name}`
  const options = { owner, directory: cache.hostPath?.(paths.mountRoot) }
  try {
    // checks delete most data again: a short delay avoids uploads of such data
    const bucket = await openRcloneBucket({
      ...mountOptionsOf({ ...settings, prefix: below }, options),
      timeouts: { writeBack: 100 },
    })
    return {
      name: settings.kind,
      open: (path) => bucket.adapter(path),
      async [Symbol.asyncDispose]() {
        await bucket.close()
        const adapter = await openMount(settings, options)
        try {
          await adapter.delete(paths.parseMount(`/${name}`), { recursive: true, force: true })
        } finally {
          await adapter.close()
          await cache.close()
        }
      },
    }
  } catch (error) {
    await cache.close()
    throw error
  }
}
