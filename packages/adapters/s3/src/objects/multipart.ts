import { UploadPartCommand } from '@aws-sdk/client-s3'
import { WorkspaceError, type WriteResult } from '@ws/core'
import { signals } from '@ws/core/adapter'
import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Task } from '../client/requests.ts'
import type { Store } from '../store/store.ts'
import { attributesFor, forNewBytes } from '../headers/attributes.ts'
import { identify } from './conditional.ts'
import type { PartReader } from './content.ts'
import type { PutOptions } from './put.ts'
import { withUpload, type Parts, type Upload } from './upload.ts'

const maxParts = 10_000

/** Limit of parts in upload at once. One more part is in memory while it is filled. */
const partsAtATime = 3

/** Uploads a body of any length in parts. No object appears before the end; a failure leaves no parts. */
export async function uploadParts(
  store: Store,
  reader: PartReader,
  first: Uint8Array,
  options: PutOptions,
  task: Task,
): Promise<WriteResult> {
  const { key, condition, mode, modifiedAt = Date.now(), attributes } = options
  const identity = identify(store, key, condition)
  // the caller has looked the path up, so the history has its latest state
  const known = store.history.latest(key)
  const kept = known === undefined || known === 'absent' ? undefined : forNewBytes(known.attributes)
  const written = attributes === 'keep' ? attributesFor(store.keys.pathOf(key), kept, store.defaults) : attributes
  const upload = { identity, condition, modifiedAt, mode, partBytes: store.partBytes, attributes: written }
  let size = 0
  const version = await withUpload(store, upload, task, async (begun) => {
    const sent = await sendParts(store, begun, reader, first, task)
    size = sent.size
    return sent
  })
  return { version, size }
}

async function sendParts(
  store: Store,
  upload: Upload,
  reader: PartReader,
  first: Uint8Array,
  task: Task,
): Promise<Parts & { readonly size: number }> {
  const etags: string[] = []
  const running = new Set<Promise<void>>()
  let [size, checksum] = [0, 0]
  const { checksums } = await store.uploadFacts(task)
  const stop = new AbortController()
  const signal = signals.either(stop.signal, task.signal)
  try {
    for (let part = first, number = 1; part.length > 0; part = await reader.next(), number += 1) {
      if (number > maxParts) throw tooLarge(store, task)
      size += part.length
      if (checksums) checksum = crc32(part, checksum)
      const sending = sendPart(store, upload, { part, number, checksums }, { ...task, signal }).then((etag) => {
        task.until?.extend()
        etags[number - 1] = etag
        reader.recycle(part)
      })
      const tracked = sending.finally(() => running.delete(tracked))
      tracked.catch(() => undefined) // `Promise.race` or the final wait reports the failure
      running.add(tracked)
      if (running.size >= partsAtATime) await Promise.race(running)
      if (reader.ended) break
    }
    await Promise.all(running)
    return { etags, size, checksum: checksums ? base64Of(checksum) : undefined }
  } catch (error) {
    stop.abort(error)
    await Promise.allSettled(running)
    throw task.signal?.aborted === true ? task.signal.reason : error
  }
}

async function sendPart(
  { requests, bucket }: Store,
  { key, id }: Upload,
  { part, number, checksums }: { readonly part: Uint8Array; readonly number: number; readonly checksums: boolean },
  task: Task,
): Promise<string> {
  const target = { Bucket: bucket, Key: key, UploadId: id, PartNumber: number }
  const checksum = checksums ? { ChecksumCRC32: base64Of(crc32(part)) } : {}
  const answer = await requests.run(
    task,
    ({ client, abortSignal }) =>
      client.send(new UploadPartCommand({ ...target, ...checksum, Body: part }), { abortSignal }),
    { bytes: part.length },
  )
  return answer.ETag ?? `"${createHash('md5').update(part).digest('hex')}"`
}

function base64Of(checksum: number): string {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(checksum)
  return bytes.toString('base64')
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
