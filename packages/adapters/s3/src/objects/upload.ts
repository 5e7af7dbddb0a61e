import { CompleteMultipartUploadCommand, CreateMultipartUploadCommand } from '@aws-sdk/client-s3'
import { isWorkspaceError, WorkspaceError, type Version } from '@ws/core'
import type { Condition } from '@ws/core/adapter'
import { isMissing, isPreconditionFailure, nativeAttemptsOf, nativeNameOf } from '../client/native.ts'
import type { Attempt, Fate, Task } from '../client/requests.ts'
import { failure } from '../errors.ts'
import { versionOf } from '../keys/etag.ts'
import type { Store } from '../store/store.ts'
import { attributeHeaders, type Attributes } from '../headers/attributes.ts'
import { conditionHeaders, isRefusal, type WriteIdentity } from './conditional.ts'
import { changing } from './effects.ts'
import { headOnce } from './lookup-real.ts'
import { writeMetadata } from '../headers/metadata.ts'
import { findOutcome, supersededError, unknownError } from './outcome.ts'
import { abandon, liveUploads, partsOf, sweepKey } from './uploads.ts'
import { partBytesName } from './verify.ts'

export interface Upload {
  readonly key: string
  readonly id: string
}

export interface UploadOptions {
  readonly identity: WriteIdentity
  readonly condition: Condition | undefined
  readonly modifiedAt: number | undefined
  readonly mode: number | undefined
  readonly crc32?: number | undefined
  readonly partBytes: number
  readonly attributes: Attributes
}

export interface Parts {
  readonly etags: readonly string[]
  /** Bytes of all parts. Absent for parts copied by the store, which may change when sent again. */
  readonly size?: number
  /** CRC-32 of all bytes, for stores that keep the checksum. */
  readonly checksum: string | undefined
}

/** Begins an upload, lets `send` fill it, and completes it. A failure leaves no parts. */
export async function withUpload(
  store: Store,
  options: UploadOptions,
  task: Task,
  send: (upload: Upload) => Promise<Parts>,
): Promise<Version> {
  const { key, writes } = options.identity
  const fate: Fate = { lost: false }
  let upload: Upload | undefined
  const pending = liveUploads.begin(store, key)
  const release = store.requests.hold()
  try {
    upload = await begin(store, options, task, fate).finally(pending)
    liveUploads.add(upload.id)
    const parts = await send(upload)
    const version = await complete(store, upload, parts, options, task)
    store.history.note(key, { version, writes, attributes: options.attributes })
    return version
  } catch (error) {
    if (upload !== undefined) abandon(store, upload, task)
    throw error
  } finally {
    if (upload !== undefined) liveUploads.delete(upload.id)
    // after a lost answer, the upload's id is unknown
    if (fate.lost) sweepKey(store, key, task)
    release()
  }
}

async function begin(store: Store, options: UploadOptions, task: Task, fate: Fate): Promise<Upload> {
  const { requests, bucket, extra } = store
  const { checksums } = await store.uploadFacts(task)
  const { identity, modifiedAt, mode, crc32, partBytes, attributes } = options
  const { key, writes } = identity
  const metadata = writeMetadata({ modifiedAt, mode, crc32, writes }, attributes.Metadata)
  const command = new CreateMultipartUploadCommand({
    Bucket: bucket,
    Key: key,
    ...attributeHeaders(attributes),
    ...extra,
    Metadata: { ...metadata, [partBytesName]: `${partBytes}` },
    ...(checksums ? { ChecksumAlgorithm: 'CRC32', ChecksumType: 'FULL_OBJECT' } : {}),
  })
  const { UploadId: id } = await requests.run(
    task,
    ({ client, abortSignal }) => client.send(command, { abortSignal }),
    { fate },
  )
  if (id === undefined) {
    const reason = 'cannot be written in parts: the store began an upload without an id'
    throw new WorkspaceError({ code: 'ENOTSUP', operation: task.operation, path: task.path, reason })
  }
  return { key, id }
}

/** Completes an upload. Repeating the request has no second effect. */
async function complete(
  store: Store,
  { key, id }: Upload,
  { etags, size, checksum }: Parts,
  { identity, condition }: UploadOptions,
  task: Task,
): Promise<Version> {
  const headers = conditionHeaders(store, condition, task)
  const fate: Fate = { lost: false }
  let parts = etags
  const send = async ({ client, abortSignal }: Attempt) => {
    const command = new CompleteMultipartUploadCommand({
      Bucket: store.bucket,
      Key: key,
      UploadId: id,
      MultipartUpload: { Parts: parts.map((ETag, index) => ({ ETag, PartNumber: index + 1 })) },
      ...(checksum === undefined ? {} : { ChecksumCRC32: checksum, ChecksumType: 'FULL_OBJECT' }),
      ...headers,
    })
    return await client.send(command, { abortSignal })
  }
  const attemptOnce = async (attempt: Attempt): Promise<Version> => {
    if (fate.lost) {
      const { outcome, state } = await findOutcome(store, identity, attempt)
      if (outcome === 'done') return ownVersion(state)
    }
    try {
      const { ETag } = await send(attempt).catch(async (error: unknown) => {
        if (nativeNameOf(error) !== 'InvalidPart' || size === undefined) throw error
        parts = (await partsOf(store, { key, id }, attempt, { count: etags.length, size })) ?? parts
        return await send(attempt)
      })
      // Ceph leaves the ETag empty
      if (ETag !== undefined && ETag.replaceAll('"', '') !== '') return versionOf(ETag)
    } catch (error) {
      if (!isRefusal(error)) throw error
      const { outcome, state } = await findOutcome(store, identity, attempt)
      if (outcome === 'done') return ownVersion(state)
      const isRepeated = fate.lost || nativeAttemptsOf(error) > 1
      if (isRepeated && outcome === 'unknown') throw unknownError(identity, task)
      if (condition !== undefined && isPreconditionFailure(error)) throw failure('ECONFLICT', task.operation, task.path)
      throw isMissing(error) && condition !== undefined ? failure('ECONFLICT', task.operation, task.path) : error
    }
    const state = await headOnce(store, key, attempt)
    if (state?.metadata.writes.includes(identity.id) !== true) throw supersededError(identity, task)
    return ownVersion(state)
  }
  try {
    return await changing(store, key, condition, task, () => store.requests.run(task, attemptOnce, { fate }))
  } catch (error) {
    if (!fate.lost || isWorkspaceError(error) || task.signal?.aborted === true) throw error
    // another program has ended an upload that is gone and left no object
    if (nativeNameOf(error) === 'NoSuchUpload') throw error
    throw unknownError(identity, task, error)
  }

  function ownVersion(state: Awaited<ReturnType<typeof headOnce>>): Version {
    if (state?.metadata.writes[0] === identity.id) return state.stat.version
    throw supersededError(identity, task)
  }
}
