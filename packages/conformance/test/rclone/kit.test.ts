import type { StorageAdapter } from '@ws/core/adapter'
import { component, describeWith } from '@ws/test-fixtures'
import { afterAll } from 'vitest'

import { testAdapter } from '../../src/vitest.ts'
import { type MountedBucket, mountBucket, mountNeeds } from './bucket.ts'

let mounted: Promise<MountedBucket> | undefined
let count = 0

const closings: Promise<void>[] = []

/** Closing waits for uploads: the next test need not. It is closed to everybody at once all the same. */
function closedInPassing(adapter: StorageAdapter): StorageAdapter {
  return new Proxy(adapter, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (name === 'close') return async () => void closings.push(target.close())
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

// One mount for all tests: each gets a part of it.
describeWith([...mountNeeds, component('perl')], 'rclone on Ceph', () => {
  afterAll(async () => {
    await Promise.all(closings)
    await (await mounted)?.[Symbol.asyncDispose]()
  })

  testAdapter({
    name: 'rclone',
    create: async () => {
      mounted ??= mountBucket({ writeBackDelay: 1_000 })
      const { bucket, directory, server } = await mounted
      count += 1
      return {
        adapter: closedInPassing(await bucket.adapter(`threads/t${count}`)),
        secrets: [directory, server.bucket, server.credentials.secretAccessKey, 'threads', '/proc/self'],
      }
    },
  })
})
