import { testAdapter } from '@ws/conformance/vitest'
import { paths, prefix, readOnly } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import { deep, describeWith } from '@ws/test-fixtures'
import { s3ServerNames, type S3Server, type S3ServerName } from '@ws/test-fixtures/s3'
import { s3Needs, sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { afterAll, beforeAll, describe } from 'vitest'

import { createS3Adapter, probeS3Dialect, type S3Dialect } from '../src/index.ts'
import type { BucketOptions } from '../src/options.ts'
import { tagsOn } from './support.ts'

for (const name of deep ? ([...s3ServerNames, 'swift'] as const) : s3ServerNames)
  describeWith(s3Needs(name), `on ${name}`, { tags: tagsOn(name) }, () => testServer(name))

/** The kit on one server. Each test has a part of the bucket for itself. */
function testServer(name: S3ServerName): void {
  let server: S3Server
  let dialect: S3Dialect
  let used = 0
  beforeAll(async () => {
    server = await sharedS3Server(name)
    dialect = await probeS3Dialect({ client: server.client({ maxAttempts: 1 }), bucket: server.bucket })
  })
  afterAll(() => server.close())

  const create = async (options: Partial<BucketOptions> = {}): Promise<StorageAdapter> => {
    used += 1
    const { bucket, endpoint, region, credentials } = server
    const place = { bucket, prefix: `where-it-lies/${used}`, endpoint, region, credentials }
    return createS3Adapter({ ...place, dialect, ...options })
  }
  const secretsOf = ({ bucket, credentials }: S3Server): string[] => [
    'where-it-lies',
    bucket,
    credentials.accessKeyId,
    credentials.secretAccessKey,
  ]

  testAdapter({
    name: `s3 on ${name}`,
    pageSize: name === 'swift' ? undefined : 1000,
    create: async () => ({ adapter: await create(), secrets: secretsOf(server) }),
  })

  if (name === 'r2')
    describe('links', { tags: ['deep'] }, () => {
      testAdapter({
        name: `s3 with links on ${name}`,
        create: async () => ({ adapter: await create({ symlinks: 'rclonelink' }), secrets: secretsOf(server) }),
      })
    })

  if (name !== 'swift')
    describe('large numbers', { tags: ['deep'] }, () => {
      testAdapter({
        name: `s3 on ${name}`,
        deep: true,
        pageSize: 1000,
        create: async () => ({ adapter: await create(), secrets: secretsOf(server) }),
      })
    })

  // the layers are the same over every server
  if (name !== 'ceph') return
  describe('layers', { tags: ['deep'] }, () => {
    testAdapter({
      name: `readOnly(s3) on ${name}`,
      create: async () => {
        const seed = await create()
        return { adapter: readOnly(seed, { shared: true }), seed }
      },
    })

    testAdapter({
      name: `prefix(s3) on ${name}`,
      create: async () => {
        const inner = await create()
        await inner.write(paths.parseMount('/deep/where-it-lies-2/file'), new TextEncoder().encode('outside'))
        await inner.createDirectory(paths.parseMount('/deep/where-it-lies'), { recursive: true })
        return {
          adapter: prefix(inner, '/deep/where-it-lies'),
          removeRoot: () => inner.delete(paths.parseMount('/deep/where-it-lies'), { recursive: true }),
          secrets: ['deep', ...secretsOf(server)],
        }
      },
    })
  })
}
