import type { StorageAdapter } from '@ws/core/adapter'
import { testAdapter } from '@ws/conformance/vitest'
import { component, createScratchDirectory, describeWith, type ScratchDirectory } from '@ws/test-fixtures'
import type { S3Server } from '@ws/test-fixtures/s3'
import { sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { afterAll, beforeAll } from 'vitest'

import { openRcloneBucket, type RcloneBucket } from '../src/index.ts'
import { mountNeeds, optionsFor } from './support.ts'

let server: S3Server
let scratch: ScratchDirectory
let bucket: RcloneBucket
let count = 0

const closings: Promise<void>[] = []

/** Closing waits for uploads: the next test need not. Every use of it is refused at once all the same. */
function closedInPassing(adapter: StorageAdapter): StorageAdapter {
  return new Proxy(adapter, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (name === 'close') return async () => void closings.push(target.close())
      // no bound function: `await using` takes none from a proxy
      return typeof value === 'function' ? (...given: unknown[]) => Reflect.apply(value, target, given) : value
    },
  })
}

// One mount for all tests: each gets a part of it.
describeWith([...mountNeeds, component('perl')], 'rclone on Ceph', () => {
  beforeAll(async () => {
    server = await sharedS3Server('ceph')
    scratch = await createScratchDirectory({ prefix: 'ws-rclone-' })
    bucket = await openRcloneBucket({
      ...optionsFor({ server, bucket: server.bucket }, scratch.path),
      prefix: undefined,
      writeBackDelay: 1_000,
    })
  })
  afterAll(async () => {
    await Promise.all(closings)
    await bucket.close()
    await server.close()
    await scratch.remove()
  })

  testAdapter({
    name: 'rclone',
    create: async () => {
      count += 1
      return {
        adapter: closedInPassing(await bucket.adapter(`threads/t${count}`)),
        secrets: [scratch.path, server.bucket, server.credentials.secretAccessKey, 'threads', '/proc/self'],
      }
    },
  })
})
