import { component, describeWith } from '@ws/test-fixtures'
import { afterAll } from 'vitest'

import { testAdapter } from '../../src/vitest.ts'
import { type MountedBucket, mountBucket, mountNeeds } from './bucket.ts'

let mounted: Promise<MountedBucket> | undefined
let count = 0

// One mount for all tests: each gets a part of it.
describeWith([...mountNeeds, component('perl')], 'rclone on Ceph', () => {
  afterAll(async () => {
    await (await mounted)?.[Symbol.asyncDispose]()
  })

  testAdapter({
    name: 'rclone',
    create: async () => {
      mounted ??= mountBucket({ writeBackMs: 20 })
      const { bucket, directory, server } = await mounted
      count += 1
      return {
        adapter: await bucket.adapter(`threads/t${count}`),
        secrets: [directory, server.bucket, server.credentials.secretAccessKey, 'threads', '/proc/self'],
      }
    },
  })
})
