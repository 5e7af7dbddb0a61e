import type { S3Connection } from '@ws/test-fixtures/s3'
import { Operator } from 'opendal'

import { type S3Client, forEach, matchingLines, partBytes, partsAtATime } from './client.ts'

const bufferBytes = 1024 * 1024

/** Apache OpenDAL: Rust below Node, which does its work on threads of its own. */
export function openOpendal({ endpoint, region, bucket, credentials }: S3Connection): S3Client {
  const operator = new Operator('s3', {
    endpoint,
    region,
    bucket,
    access_key_id: credentials.accessKeyId,
    secret_access_key: credentials.secretAccessKey,
    disable_config_load: 'true',
    disable_ec2_metadata: 'true',
  })
  const keys = async (directory: string): Promise<string[]> => {
    const entries = await operator.list(`${directory}/`)
    return entries.map((entry) => entry.path())
  }
  return {
    name: 'opendal',
    put: (key, content) => operator.write(key, asBuffer(content)),
    get: async (key) => (await operator.read(key)).length,
    list: async (directory) => (await keys(directory)).length,
    async upload(key, content) {
      const writer = await operator.writer(key, { chunk: BigInt(partBytes), concurrent: partsAtATime })
      for await (const chunk of content()) await writer.write(asBuffer(chunk))
      await writer.close()
    },
    async download(key) {
      const reader = await operator.reader(key)
      const buffer = Buffer.alloc(bufferBytes)
      let bytes = 0
      for (;;) {
        const count = Number(await reader.read(buffer))
        if (count === 0) return bytes
        bytes += count
      }
    },
    async search(directory, text) {
      let hits = 0
      await forEach(await keys(directory), async (key) => {
        const found = matchingLines(await operator.read(key), text)
        hits += found.length
      })
      return hits
    },
    async close() {},
  }
}

function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}
