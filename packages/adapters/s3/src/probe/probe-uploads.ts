import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { statusOf } from '../client/native.ts'
import { isUnable, type Asker } from './asker.ts'
import type { UploadFacts } from '../dialect.ts'

/** Probes uploads in parts, before the first upload: most adapters never need the answer. */
export async function probeUploads(asker: Asker): Promise<UploadFacts> {
  const target = { Bucket: asker.bucket, Key: `${asker.key}-parts` }
  await asker.put(target.Key)
  const release = asker.requests.hold()
  try {
    return await ask(asker, target)
  } catch (error) {
    if (!isUnable(error)) throw error
    return { conditionalComplete: false, checksums: false }
  } finally {
    await asker.cleanUp()
    release()
  }
}

async function ask(asker: Asker, target: { readonly Bucket: string; readonly Key: string }): Promise<UploadFacts> {
  const { requests, task } = asker
  const checked = { ChecksumAlgorithm: 'CRC32', ChecksumType: 'FULL_OBJECT' } as const
  const begin = (more: object) =>
    requests.run(task, ({ client, abortSignal }) =>
      client.send(new CreateMultipartUploadCommand({ ...target, ...more }), { abortSignal }),
    )
  const { UploadId } = await begin(checked).catch((error: unknown) => {
    if (!isUnable(error)) throw error
    return begin({})
  })
  try {
    const part = { ...target, UploadId, PartNumber: 1, Body: new TextEncoder().encode('a') }
    const send = (more: object) =>
      requests.run(task, ({ client, abortSignal }) =>
        client.send(new UploadPartCommand({ ...part, ...more }), { abortSignal }),
      )
    // a server that compares checksums refuses a wrong one
    const wrong = await send({ ChecksumCRC32: 'AAAAAA==' }).then(
      () => false,
      (error: unknown) => {
        if (!isUnable(error)) throw error
        return statusOf(error) === 400
      },
    )
    const { ETag } = await send(wrong ? { ChecksumCRC32: '6Le+Qw==' } : {})
    const answer = await asker.ask((client, options) =>
      client.send(
        new CompleteMultipartUploadCommand({
          ...target,
          UploadId,
          MultipartUpload: { Parts: [{ ETag, PartNumber: 1 }] },
          IfNoneMatch: '*',
        }),
        options,
      ),
    )
    return { conditionalComplete: answer === 'refused', checksums: wrong }
  } finally {
    await asker.remove((client, options) =>
      client.send(new AbortMultipartUploadCommand({ ...target, UploadId }), options),
    )
  }
}
