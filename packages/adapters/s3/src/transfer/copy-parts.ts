import { UploadPartCopyCommand } from '@aws-sdk/client-s3'
import type { Version } from '@ws/core'
import { concurrency } from '@ws/core/adapter'
import { isPreconditionFailure, statusOf } from '../client/native.ts'
import { DamagedBodyError } from '../client/retry.ts'
import type { Task } from '../client/requests.ts'
import { failure } from '../errors.ts'
import { conditionOf } from '../keys/etag.ts'
import { copySource } from '../keys/key-space.ts'
import { identify } from '../objects/conditional.ts'
import { headObject } from '../objects/lookup-real.ts'
import { isSameObject } from '../headers/stat.ts'
import { withUpload, type Parts, type Upload } from '../objects/upload.ts'
import type { Store } from '../store/store.ts'
import type { ObjectCopy } from './copy-object.ts'

const partsAtATime = 4

/** Copies an object within the store, part by part. All parts come from one version, and no byte comes to this machine. */
export async function copyByParts(store: Store, copy: ObjectCopy, task: Task): Promise<Version> {
  const { source, sourceKey, destination, destinationKey, state } = copy
  const { mode, modifiedAt } = state.stat
  const options = {
    identity: identify(store, destinationKey, undefined),
    condition: undefined,
    modifiedAt,
    mode,
    crc32: state.metadata.crc32,
    partBytes: store.copyPartBytes,
    attributes: state.attributes,
  }
  return withUpload(store, options, { ...task, path: destination }, async (upload) => {
    const parts = await copyParts(store, upload, copy, task)
    // some stores do not compare the version for each part
    const now = await headObject(store, sourceKey, task)
    if (now === undefined || !isSameObject(now, state)) throw failure('ECONFLICT', task.operation, source)
    return parts
  })
}

async function copyParts(store: Store, { key, id }: Upload, copy: ObjectCopy, task: Task): Promise<Parts> {
  const { bucket, requests, dialect, copyPartBytes } = store
  const { size, version } = copy.state.stat
  let etag = dialect.conditionalCopySource ? conditionOf(version, dialect) : undefined
  const etags: string[] = []
  const numbers = Array.from({ length: Math.ceil(size / copyPartBytes) }, (_, index) => index)
  await concurrency.forEachOf(numbers, partsAtATime, async (index) => {
    const [from, to] = [index * copyPartBytes, Math.min(size, (index + 1) * copyPartBytes) - 1]
    const send = (condition: string | undefined) =>
      requests.run(
        task,
        async ({ client, abortSignal }) => {
          const command = new UploadPartCopyCommand({
            Bucket: bucket,
            Key: key,
            UploadId: id,
            PartNumber: index + 1,
            CopySource: copySource(bucket, copy.sourceKey),
            CopySourceRange: `bytes=${from}-${to}`,
            ...(condition === undefined ? {} : { CopySourceIfMatch: condition }),
          })
          const { CopyPartResult } = await client.send(command, { abortSignal })
          if (CopyPartResult?.ETag === undefined) throw new DamagedBodyError('the answer has no ETag')
          return CopyPartResult.ETag
        },
        { copied: to - from + 1 },
      )
    const condition = etag
    try {
      etags[index] = await send(condition)
    } catch (error) {
      if (isPreconditionFailure(error)) throw failure('ECONFLICT', task.operation, copy.source)
      // some stores support conditions on whole copies only
      if (statusOf(error) !== 501 || condition === undefined) throw error
      etag = undefined
      etags[index] = await send(undefined)
    }
    task.until?.extend()
  })
  return { etags, checksum: undefined }
}
