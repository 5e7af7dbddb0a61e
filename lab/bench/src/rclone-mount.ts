import { join } from 'node:path'

import { createRcloneAdapter } from '@ws/adapter-rclone'
import { paths } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import { component, createScratchDirectory, ordinaryOwner } from '@ws/test-fixtures'
import { startCephServer } from '@ws/test-fixtures/s3'

/** Milliseconds for which the kernel believes what it knows of a file: the adapter's default. */
const attributeCache = 1_000

export interface RcloneMount extends AsyncDisposable {
  readonly adapter: StorageAdapter
  readonly directory: string
  /** Milliseconds after which the kernel asks for a file again: a little longer, since time is measured at both ends. */
  readonly maxStaleness: number
  /** Waits until no upload is under way. */
  readonly settle: () => Promise<unknown>
}

export async function openRcloneMount(prefix: string): Promise<RcloneMount> {
  for (const needed of ['radosgw', 'rclone', 'fuse'] as const) {
    const { available, reason } = component(needed)
    if (!available) throw new Error(`needs ${needed}: ${reason}`)
  }
  await using opening = new AsyncDisposableStack()
  const { endpoint, region, credentials, bucket } = opening.use(await startCephServer())
  const scratch = opening.use(await createScratchDirectory())
  const adapter = opening.use(
    await createRcloneAdapter({
      ...{ endpoint, region, credentials, bucket, prefix },
      provider: 'Ceph',
      owner: ordinaryOwner(),
      directory: join(scratch.path, 'state'),
      timeouts: { attributeCache, directoryCache: 600_000 },
    }),
  )
  const opened = opening.move()
  return {
    adapter,
    directory: String(adapter.hostPath?.(paths.parseMount('/'))),
    maxStaleness: attributeCache + 50,
    settle: async () => await adapter.flush?.(),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}
