import type { S3Connection } from '@ws/test-fixtures/s3'
import { S3Client as LeanClient } from 'lean-s3'

import { type S3Client, forEach, matchingLines, partsAtATime, partsOf } from './client.ts'

/**
 * `lean-s3`: a small client on undici. It signs no bodies, has no credential chain, tries nothing again, and cannot list
 * with a delimiter beside a prefix: it signs them in the wrong order.
 */
export function openLean({ endpoint, region, bucket, credentials }: S3Connection): S3Client {
  const client = new LeanClient({ endpoint, region, bucket, ...credentials })
  async function* list(directory: string): AsyncGenerator<string> {
    for (let token: string | undefined, first = true; first || token !== undefined; first = false) {
      const page = await client.list({
        prefix: `${directory}/`,
        ...(token === undefined ? {} : { continuationToken: token }),
      })
      for (const { key } of page.contents) yield key
      token = page.nextContinuationToken
    }
  }
  return {
    name: 'lean-s3',
    put: (key, content) => client.file(key).write(content),
    get: async (key) => (await client.file(key).bytes()).length,
    async list(directory) {
      let count = 0
      for await (const key of list(directory)) if (key !== '') count += 1
      return count
    },
    async upload(key, content) {
      const { uploadId } = await client.createMultipartUpload(key)
      const parts: { partNumber: number; etag: string }[] = []
      let count = 0
      const send = async (part: Uint8Array): Promise<void> => {
        const partNumber = (count += 1)
        parts[partNumber - 1] = await client.uploadPart(key, uploadId, part, partNumber)
      }
      await forEach(partsOf(content()), send, partsAtATime)
      await client.completeMultipartUpload(key, uploadId, parts)
    },
    async download(key) {
      let bytes = 0
      for await (const chunk of client.file(key).stream()) bytes += chunk.length
      return bytes
    },
    async search(directory, text) {
      let hits = 0
      await forEach(list(directory), async (key) => {
        const found = matchingLines(await client.file(key).bytes(), text)
        hits += found.length
      })
      return hits
    },
    async close() {},
  }
}
