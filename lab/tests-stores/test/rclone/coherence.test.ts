/** @module-tag deep */
import { createRcloneAdapter } from '@ws/adapter-rclone'
import { createS3Adapter } from '@ws/adapter-s3'
import { createScratchDirectory, describeWith } from '@ws/test-fixtures'
import { sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import type { CoherenceFixture } from '@ws/conformance'
import { testCoherence } from '@ws/conformance/vitest'
import { describe } from 'vitest'
import { mountNeeds } from './bucket.ts'

/** A mount that believes its listings for half a second, and another writer on the same prefix. */
async function mountAnd(other: 'S3' | 'mount'): Promise<CoherenceFixture> {
  const server = await sharedS3Server('ceph')
  const scratch = await createScratchDirectory({ prefix: 'ws-rclone-' })
  const { endpoint, region, credentials, bucket } = server
  const mount = async (name: string) => {
    const adapter = await createRcloneAdapter({
      endpoint,
      region,
      credentials,
      provider: 'Ceph',
      bucket,
      prefix: 'threads/t1',
      directory: `${scratch.path}/${name}`,
      timeouts: { writeBack: 50, directoryCache: 500, attributeCache: 200 },
    })
    return { adapter, refresh: () => adapter.refresh() }
  }
  const one = await mount('one')
  return {
    one,
    other:
      other === 'mount'
        ? await mount('other')
        : { adapter: await createS3Adapter({ client: server.client(), bucket, prefix: 'threads/t1' }) },
    dispose: async () => {
      await server.close()
      await scratch.remove()
    },
  }
}

describeWith(mountNeeds, 'a mount beside others', () => {
  testCoherence({ name: 'rclone and S3', create: () => mountAnd('S3') })
  describe('of its own kind', { tags: ['deep'] }, () => {
    testCoherence({ name: 'two mounts', create: () => mountAnd('mount') })
  })
})
