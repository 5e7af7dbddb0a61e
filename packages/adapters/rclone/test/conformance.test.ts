import { type AdapterSuiteOptions, testAdapter as testWith } from '@ws/conformance'
import { testAdapter } from '@ws/conformance/vitest'
import type { StorageAdapter } from '@ws/core/adapter'
import { component, createScratchDirectory, describeWith, type ScratchDirectory } from '@ws/test-fixtures'
import { onlyGroups } from '@ws/test-fixtures/kit'
import type { S3Server, S3ServerName } from '@ws/test-fixtures/s3'
import { s3Needs, sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { afterAll, beforeAll } from 'vitest'

import { openRcloneBucket, type RcloneBucket } from '../src/index.ts'
import { optionsFor } from './support.ts'

/** The groups of the kit in which the mount decides, and which take little time. */
const decided = [
  'stat',
  'read',
  'readStream',
  'write',
  'createDirectory',
  'delete',
  'copy',
  'append',
  'versions',
  'flush',
  'createScratch',
]

const needs = [component('rclone'), component('fuse'), component('perl')]
describeWith(needs, 'rclone on R2', () => testServer('r2', (options) => testWith(options, onlyGroups(...decided))))
// the simulator of R2 takes the line breaks out of keys
describeWith([...needs, ...s3Needs('ceph')], 'rclone on Ceph', { tags: ['all'] }, () => testServer('ceph', testAdapter))

/** The kit on one mount for all tests: each gets a part of it. */
function testServer(name: S3ServerName, define: (options: AdapterSuiteOptions) => void): void {
  let server: S3Server
  let scratch: ScratchDirectory
  let bucket: RcloneBucket
  let count = 0
  const closings: Promise<void>[] = []

  /** Closing waits for uploads: the next test need not. Every use of it is refused at once all the same. */
  const closedInPassing = (adapter: StorageAdapter): StorageAdapter =>
    new Proxy(adapter, {
      get(target, property) {
        const value: unknown = Reflect.get(target, property)
        if (property === 'close') return async () => void closings.push(target.close())
        // no bound function: `await using` takes none from a proxy
        return typeof value === 'function' ? (...given: unknown[]) => Reflect.apply(value, target, given) : value
      },
    })

  beforeAll(async () => {
    server = await sharedS3Server(name)
    scratch = await createScratchDirectory({ prefix: 'ws-rclone-' })
    bucket = await openRcloneBucket({
      ...optionsFor({ server, bucket: server.bucket }, scratch.path),
      prefix: undefined,
      timeouts: { writeBack: 1_000 },
    })
  })
  afterAll(async () => {
    await Promise.all(closings)
    await bucket.close()
    await server.close()
    await scratch.remove()
  })

  define({
    name: `rclone on ${name}`,
    create: async () => {
      count += 1
      return {
        adapter: closedInPassing(await bucket.adapter(`threads/t${count}`)),
        secrets: [scratch.path, server.bucket, server.credentials.secretAccessKey, 'threads', '/proc/self'],
      }
    },
  })
}
