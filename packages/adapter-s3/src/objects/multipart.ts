import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { WorkspaceError, type WriteResult } from '@ws/core'
import { createHash } from 'node:crypto'
import { isMissing, nativeNameOf, nativeAttemptsOf } from '../client/native.ts'
import type { Task } from '../client/requests.ts'
import { failure } from '../errors.ts'
import { versionOf } from '../keys/etag.ts'
import type { Store } from '../store.ts'
import {
  conditionHeaders,
  findOwnWrite,
  identify,
  isRefusal,
  supersededError,
  type WriteIdentity,
} from './conditional.ts'
import type { PartReader } from './content.ts'
import { headObject } from './lookup-real.ts'
import { writeMetadata } from './metadata.ts'
import type { PutOptions } from './put.ts'
import { partBytesName } from './verify.ts'

const maxParts = 10_000

/** Parts on their way at a time; with the one that is being filled they are what an upload holds in memory. */
const partsAtATime = 3

interface Upload {
  readonly key: string
  readonly id: string
}

/** A body of any length, in parts of one size. Nothing of it is seen before the last; a failure leaves no parts behind. */
export async function uploadParts(
  store: Store,
  reader: PartReader,
  first: Uint8Array,
  options: PutOptions,
  task: Task,
): Promise<WriteResult> {
  const identity = identify(store, options.key, options.condition)
  const upload = await begin(store, options, identity, task)
  let result: WriteResult
  try {
    const { etags, size } = await sendParts(store, upload, reader, first, task)
    const version = await complete(store, upload, etags, options, identity, task)
    result = { version, size }
  } catch (error) {
    await abandon(store, upload, task)
    throw error
  }
  store.history.note(options.key, result.version, identity.writes)
  return result
}

async function begin(
  { requests, bucket, partBytes }: Store,
  { key, mode, modifiedAt = Date.now(), contentType }: PutOptions,
  { writes }: WriteIdentity,
  task: Task,
): Promise<Upload> {
  const { UploadId: id } = await requests.run(task, ({ client, abortSignal }) =>
    client.send(
      new CreateMultipartUploadCommand({
        Bucket: bucket,
        Key: key,
        Metadata: { ...writeMetadata({ modifiedAt, mode, writes }), [partBytesName]: `${partBytes}` },
        ...(contentType === undefined ? {} : { ContentType: contentType }),
      }),
      { abortSignal },
    ),
  )
  if (id === undefined) throw failure('ENOTSUP', task.operation, task.path)
  return { key, id }
}

async function sendParts(
  store: Store,
  upload: Upload,
  reader: PartReader,
  first: Uint8Array,
  task: Task,
): Promise<{ etags: string[]; size: number }> {
  const etags: string[] = []
  const running = new Set<Promise<void>>()
  let size = 0
  // one part that fails ends the others
  const stop = new AbortController()
  const signal = task.signal === undefined ? stop.signal : AbortSignal.any([stop.signal, task.signal])
  try {
    for (let part = first, number = 1; part.length > 0; part = await reader.next(), number += 1) {
      if (number > maxParts) throw tooLarge(store, task)
      size += part.length
      const sending = sendPart(store, upload, part, number, { ...task, signal }).then((etag) => {
        etags[number - 1] = etag
        reader.recycle(part)
      })
      const tracked = sending.finally(() => running.delete(tracked))
      tracked.catch(() => undefined)
      running.add(tracked)
      if (running.size >= partsAtATime) await Promise.race(running)
      if (reader.ended) break
    }
    await Promise.all(running)
    return { etags, size }
  } catch (error) {
    stop.abort(error)
    await Promise.allSettled(running)
    throw task.signal?.aborted === true ? task.signal.reason : error
  }
}

async function sendPart(
  { requests, bucket }: Store,
  { key, id }: Upload,
  part: Uint8Array,
  number: number,
  task: Task,
): Promise<string> {
  const answer = await requests.run(
    task,
    ({ client, abortSignal }) =>
      client.send(new UploadPartCommand({ Bucket: bucket, Key: key, UploadId: id, PartNumber: number, Body: part }), {
        abortSignal,
      }),
    part.length,
  )
  return answer.ETag ?? `"${createHash('md5').update(part).digest('hex')}"`
}

async function complete(
  store: Store,
  { key, id }: Upload,
  etags: readonly string[],
  { condition }: PutOptions,
  identity: WriteIdentity,
  task: Task,
): Promise<string> {
  const headers = conditionHeaders(store, condition, task)
  const Parts = etags.map((ETag, index) => ({ ETag, PartNumber: index + 1 }))
  try {
    return await store.requests.run(task, async ({ client, abortSignal, repeated }) => {
      const command = new CompleteMultipartUploadCommand({
        Bucket: store.bucket,
        Key: key,
        UploadId: id,
        MultipartUpload: { Parts },
        ...headers,
      })
      try {
        const { ETag } = await client.send(command, { abortSignal })
        // Ceph leaves it empty
        if (ETag !== undefined && ETag.replaceAll('"', '') !== '') return versionOf(ETag)
      } catch (error) {
        // an upload that is gone has been completed, maybe by the attempt before
        const mayBeOwn = isRefusal(error) && (repeated || condition !== undefined || isMissingUpload(error))
        if (!mayBeOwn) throw error
        const isRepeated = repeated || isMissingUpload(error) || nativeAttemptsOf(error) > 1
        const own = await findOwnWrite(store, key, identity, task, isRepeated)
        if (own === undefined) throw error
        if (own.version === undefined) throw supersededError(task)
        return own.version
      }
      const state = await headObject(store, key, task)
      if (state?.metadata.writes[0] !== identity.id) throw supersededError(task)
      return state.stat.version
    })
  } catch (error) {
    throw condition !== undefined && isRefusal(error) ? failure('ECONFLICT', task.operation, task.path) : error
  }
}

function isMissingUpload(error: unknown): boolean {
  return nativeNameOf(error) === 'NoSuchUpload' || isMissing(error)
}

/** Without the caller's signal: an upload that was given up keeps costing money. */
async function abandon({ requests, bucket }: Store, { key, id }: Upload, { operation, path }: Task): Promise<void> {
  try {
    await requests.run({ operation, path }, ({ client, abortSignal }) =>
      client.send(new AbortMultipartUploadCommand({ Bucket: bucket, Key: key, UploadId: id }), { abortSignal }),
    )
  } catch {
    // it was completed after all, or the server cannot be reached: why the write failed says more
  }
}

function tooLarge({ partBytes }: Store, { operation, path }: Task): WorkspaceError {
  return new WorkspaceError({
    code: 'EFBIG',
    operation,
    path,
    reason: `is larger than ${maxParts} parts of ${partBytes} bytes`,
    remedy: 'raise `partBytes`',
  })
}
