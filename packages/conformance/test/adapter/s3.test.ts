import { createS3Adapter } from '@ws/adapter-s3'
import { prefix, parseMountPath, readOnly } from '@ws/core'
import { startR2Server } from '@ws/test-fixtures/s3'
import { afterAll, describe } from 'vitest'
import { testAdapter } from '../../src/vitest.ts'

const deep = process.env['WS_DEEP'] === '1'

const server = await startR2Server()
afterAll(() => server.close())
const client = server.client({ maxAttempts: 1 })
let used = 0

describe('on miniflare', () => {
  testAdapter({
    name: 's3',
    deep,
    pageSize: 1000,
    create: async () => {
      used += 1
      return {
        adapter: await createS3Adapter({ client, bucket: server.bucket, prefix: `where-it-lies/${used}` }),
        secrets: ['where-it-lies', server.bucket, server.credentials.secretAccessKey],
      }
    },
  })
})
