import { createHash } from 'node:crypto'

import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client as AwsClient,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { type S3Connection, clientConfig } from '@ws/test-fixtures/s3'

import { type S3Client, forEach, matchingLines, partsAtATime, partsOf } from './client.ts'

/** `@aws-sdk/client-s3` in its usual form; checksums only where they are required, which is its fastest. */
export function openSdk(connection: S3Connection): S3Client {
  const Bucket = connection.bucket
  const client = new AwsClient(clientConfig(connection))

  const get = async (Key: string): Promise<Uint8Array> => {
    const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }))
    return (await Body?.transformToByteArray()) ?? new Uint8Array()
  }
  async function* list(directory: string): AsyncGenerator<string> {
    for (let token: string | undefined, first = true; first || token !== undefined; first = false) {
      const page = await client.send(
        new ListObjectsV2Command({ Bucket, Prefix: `${directory}/`, Delimiter: '/', ContinuationToken: token }),
      )
      for (const { Key = '' } of page.Contents ?? []) yield Key
      token = page.NextContinuationToken
    }
  }

  return {
    name: 'raw SDK',
    put: (Key, Body) => client.send(new PutObjectCommand({ Bucket, Key, Body })),
    get: async (key) => (await get(key)).length,
    async list(directory) {
      let count = 0
      for await (const key of list(directory)) if (key !== '') count += 1
      return count
    },
    async upload(Key, content) {
      const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key }))
      const parts: { ETag: string | undefined; PartNumber: number }[] = []
      let count = 0
      const send = async (Body: Uint8Array): Promise<void> => {
        const PartNumber = (count += 1)
        const { ETag } = await client.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body }))
        parts[PartNumber - 1] = { ETag, PartNumber }
      }
      await forEach(partsOf(content()), send, partsAtATime)
      const MultipartUpload = { Parts: parts }
      await client.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload }))
    },
    async download(Key) {
      const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }))
      let bytes = 0
      for await (const chunk of Body as AsyncIterable<Uint8Array>) bytes += chunk.length
      return bytes
    },
    async downloadChecked(Key) {
      const { Body, ETag } = await client.send(new GetObjectCommand({ Bucket, Key }))
      const digests: Buffer[] = []
      let bytes = 0
      for await (const part of partsOf(Body as AsyncIterable<Uint8Array>)) {
        bytes += part.length
        digests.push(createHash('md5').update(part).digest())
      }
      const digest = createHash('md5').update(Buffer.concat(digests)).digest('hex')
      if (ETag !== `"${digest}-${digests.length}"`) throw new Error('the checksum differs')
      return bytes
    },
    async search(directory, text) {
      let hits = 0
      await forEach(list(directory), async (key) => {
        const found = matchingLines(await get(key), text)
        hits += found.length
      })
      return hits
    },
    async close() {
      client.destroy()
    },
  }
}
