import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3'
import { createS3Adapter } from '@ws/adapter-s3'
import { createWorkspace } from '@ws/core'
import { startR2Server } from '@ws/test-fixtures/s3'

import { compare, drain, own, type Report, together, type Way } from './measure.ts'

/** Compares a workspace on a bucket with the plain SDK, on the simulator of R2, which takes most of the time of both. */
export async function measureS3(report: Report): Promise<void> {
  await using server = await startR2Server()
  const { endpoint, region, bucket: Bucket, credentials } = server
  const client = server.client()
  const adapter = () => createS3Adapter({ endpoint, region, bucket: Bucket, credentials })
  await using workspace = await createWorkspace({ mounts: [{ at: '/workspace', adapter }] })
  const [small, large] = [new Uint8Array(4096).fill(120), new Uint8Array(64 * 2 ** 20).fill(120)]
  const put = (Key: string, Body: Uint8Array) => client.send(new PutObjectCommand({ Bucket, Key, Body }))
  const get = async (Key: string) =>
    await (await client.send(new GetObjectCommand({ Bucket, Key }))).Body?.transformToByteArray()
  for (let index = 0; index < 200; index += 1) await put(`many/f${index}`, small)
  await put('large', large)
  const rows: [string, number, Way['run'], Way['run']][] = [
    [
      'put 4 KiB into S3, 16 at once',
      16,
      together((i) => put(`a${i}`, small)),
      together((i) => workspace.write(`b${i}`, small)),
    ],
    [
      'get 4 KiB from S3, 16 at once',
      16,
      together((i) => get(`many/f${i}`)),
      together((i) => workspace.read(`many/f${i}`)),
    ],
    ['get 64 MiB from S3, checked', 1, () => get('large'), () => workspace.read('large', { maxBytes: 2 ** 30 })],
    [
      'list 200 objects of S3',
      1,
      () => client.send(new ListObjectsV2Command({ Bucket, Prefix: 'many/', Delimiter: '/' })),
      () => drain(workspace.list('many')),
    ],
  ]
  for (const [name, count, plain, ours] of rows) {
    const ways = [{ name: own, run: ours }]
    report(await compare('s3', { name, reference: { name: 'AWS SDK', run: plain }, ways, count, target: 1.5 }))
  }
}
