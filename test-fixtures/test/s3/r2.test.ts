import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { expect, it } from 'vitest'

import { startR2Server } from '../../src/s3/index.ts'

it('stores objects in buckets apart from one another', async () => {
  await using server = await startR2Server()
  const client = server.client()
  const put = await client.send(new PutObjectCommand({ Bucket: server.bucket, Key: 'a', Body: 'hi', IfNoneMatch: '*' }))
  expect(put.ETag).toMatch(/^"/)
  const got = await client
    .send(new GetObjectCommand({ Bucket: await server.createBucket(), Key: 'a' }))
    .catch((error: unknown) => error)
  expect(got).toMatchObject({ name: 'NoSuchKey' })
})
