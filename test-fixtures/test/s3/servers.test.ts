import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { describeWith } from '../../src/index.ts'
import { s3ServerNames, type S3Server } from '../../src/s3/index.ts'
import { s3Needs, sharedS3Server } from '../../src/s3/shared/index.ts'

describe.each(s3ServerNames)('%s', (name) => {
  describeWith(s3Needs(name), 'shared by the files of a run', { tags: name === 'ceph' ? 'all' : [] }, () => {
    let server: S3Server
    beforeAll(async () => {
      server = await sharedS3Server(name)
    })
    afterAll(() => server?.close())

    it('stores, gives back, lists and deletes objects', async () => {
      const { bucket: Bucket } = server
      const client = server.client()
      const body = Buffer.from(Array.from({ length: 3 * 2 ** 20 }, (_, index) => index % 251))
      await client.send(new PutObjectCommand({ Bucket, Key: 'a/ü +%.bin', Body: body }))
      const got = await client.send(new GetObjectCommand({ Bucket, Key: 'a/ü +%.bin' }))
      expect(Buffer.from((await got.Body?.transformToByteArray()) ?? []).equals(body)).toBe(true)
      const listed = await client.send(new ListObjectsV2Command({ Bucket, Prefix: 'a/' }))
      expect(listed.Contents?.map(({ Key, Size }) => ({ Key, Size }))).toEqual([
        { Key: 'a/ü +%.bin', Size: body.length },
      ])
      await client.send(new DeleteObjectCommand({ Bucket, Key: 'a/ü +%.bin' }))
      expect((await client.send(new ListObjectsV2Command({ Bucket, Prefix: 'a/' }))).KeyCount).toBe(0)
    })

    it('checks conditions of writes', async () => {
      const { bucket: Bucket } = server
      const client = server.client({ maxAttempts: 1 })
      const put = (Body: string, condition: { IfMatch?: string; IfNoneMatch?: string }) =>
        client.send(new PutObjectCommand({ Bucket, Key: 'conditional', Body, ...condition }))
      const { ETag = '' } = await put('1', { IfNoneMatch: '*' })
      await expect(put('2', { IfNoneMatch: '*' })).rejects.toMatchObject({ $metadata: { httpStatusCode: 412 } })
      // each server takes its own dialect only
      const current = name === 'ceph' ? ETag.replaceAll('"', '') : ETag
      await put('3', { IfMatch: current })
      await expect(put('4', { IfMatch: current })).rejects.toMatchObject({ $metadata: { httpStatusCode: 412 } })
    })

    it('gives buckets of their own', async () => {
      const other = await server.createBucket()
      const client = server.client()
      await client.send(new PutObjectCommand({ Bucket: other, Key: 'elsewhere', Body: 'x' }))
      const seen = client.send(new HeadObjectCommand({ Bucket: server.bucket, Key: 'elsewhere' }))
      await expect(seen).rejects.toMatchObject({ $metadata: { httpStatusCode: 404 } })
      await using again = await sharedS3Server(name)
      expect(again.endpoint).toBe(server.endpoint)
      expect(new Set([server.bucket, other, again.bucket]).size).toBe(3)
    })

    it('refuses credentials that are not its own', async () => {
      const { accessKeyId } = server.credentials
      const client = server.client({ credentials: { accessKeyId, secretAccessKey: 'wrong' } })
      const listed = client.send(new ListObjectsV2Command({ Bucket: server.bucket }))
      await expect(listed).rejects.toMatchObject({ $metadata: { httpStatusCode: 403 } })
    })
  })
})
