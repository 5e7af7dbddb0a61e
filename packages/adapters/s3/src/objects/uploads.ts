import { AbortMultipartUploadCommand, ListMultipartUploadsCommand, ListPartsCommand } from '@aws-sdk/client-s3'
import type { Attempt, Task } from '../client/requests.ts'
import { objectName, type Store } from '../store/store.ts'

type Sweepable = Pick<Store, 'bucket' | 'keys' | 'requests'>

/** Milliseconds without a new part before an upload counts as abandoned. */
const idleTime = 24 * 3_600_000

/** The uploads of this process: their ids, and the keys of uploads that have no id yet. */
class LiveUploads {
  readonly #ids = new Set<string>()
  readonly #pending = new Map<string, number>()

  add(id: string): void {
    this.#ids.add(id)
  }

  delete(id: string): void {
    this.#ids.delete(id)
  }

  has(id: string): boolean {
    return this.#ids.has(id)
  }

  /** Records a request for an upload. Returns a function to call once the upload has its id. */
  begin(store: Store, key: string): () => void {
    const name = objectName(store, key)
    this.#pending.set(name, (this.#pending.get(name) ?? 0) + 1)
    return () => {
      const left = (this.#pending.get(name) ?? 1) - 1
      if (left === 0) this.#pending.delete(name)
      else this.#pending.set(name, left)
    }
  }

  isPending(store: Store, key: string): boolean {
    return this.#pending.has(objectName(store, key))
  }
}

export const liveUploads = new LiveUploads()

/** Ends an abandoned upload, since its parts cost money. Only `close()` waits for that. */
export function abandon(store: Store, { key, id }: { key: string; id: string }, task: Task): void {
  store.requests.inBackground((until) => abort(store, key, id, { operation: task.operation, path: task.path, until }))
}

/** Aborts uploads whose creation got no answer. These are uploads of the key without parts, and without a user in this process. */
export function sweepKey(store: Store, key: string, { operation, path }: Task): void {
  store.requests.inBackground(async (until) => {
    const task = { operation, path, until }
    for (const { Key, UploadId } of await uploadsBelow(store, key, task)) {
      if (Key !== key || UploadId === undefined || liveUploads.has(UploadId)) continue
      if (await hasParts(store, key, UploadId, task)) continue
      if (liveUploads.has(UploadId)) continue
      // this may be the upload of this process that has no id yet, so the next attempt decides
      if (liveUploads.isPending(store, key)) throw new Error('an upload has no id yet')
      await abort(store, key, UploadId, task)
    }
  })
}

/** Ends uploads of killed processes below the prefix, if the store can list uploads. */
export async function sweepUploads(store: Sweepable, task: Task, now = Date.now()): Promise<void> {
  const oldest = now - idleTime
  for (const { Key, UploadId, Initiated } of await uploadsBelow(store, store.keys.prefix, task)) {
    if (Key === undefined || UploadId === undefined || Initiated === undefined) continue
    if (liveUploads.has(UploadId) || Initiated.getTime() > oldest) continue
    if (!(await hasParts(store, Key, UploadId, task, oldest))) await abort(store, Key, UploadId, task)
  }
}

/** Lists the ETags of an upload's parts, since R2 changes them with each request. `undefined` without a list, or for other parts. */
export async function partsOf(
  { bucket }: Sweepable,
  { key, id }: { readonly key: string; readonly id: string },
  { client, abortSignal }: Attempt,
  sent: { readonly count: number; readonly size: number },
): Promise<string[] | undefined> {
  const etags: string[] = []
  let size = 0
  // the SDK's paginator is not used, because Ceph announces another page on the last one
  for (let marker: string | undefined, more = true; more; ) {
    const page = new ListPartsCommand({ Bucket: bucket, Key: key, UploadId: id, PartNumberMarker: marker })
    const answer = await client.send(page, { abortSignal }).catch(() => undefined)
    if (answer === undefined) return undefined
    for (const { ETag, PartNumber, Size = 0 } of answer.Parts ?? []) {
      if (ETag === undefined || PartNumber !== etags.length + 1) return undefined
      etags.push(ETag)
      size += Size
    }
    marker = answer.NextPartNumberMarker
    more = answer.IsTruncated === true && marker !== undefined
  }
  return etags.length === sent.count && size === sent.size ? etags : undefined
}

async function uploadsBelow(store: Sweepable, prefix: string, task: Task) {
  const command = new ListMultipartUploadsCommand({ Bucket: store.bucket, Prefix: prefix })
  const send = store.requests.once(task, ({ client, abortSignal }) => client.send(command, { abortSignal }), closing)
  return (await send).Uploads ?? []
}

/** Whether an upload has parts. With `since`, only later parts count. */
async function hasParts(store: Sweepable, key: string, id: string, task: Task, since = 0): Promise<boolean> {
  const command = new ListPartsCommand({ Bucket: store.bucket, Key: key, UploadId: id })
  const { Parts = [], IsTruncated = false } = await store.requests.run(
    task,
    ({ client, abortSignal }) => client.send(command, { abortSignal }),
    closing,
  )
  return IsTruncated || Parts.some(({ LastModified }) => (LastModified?.getTime() ?? Number.MAX_VALUE) > since)
}

async function abort({ requests, bucket }: Sweepable, key: string, id: string, task: Task): Promise<void> {
  const command = new AbortMultipartUploadCommand({ Bucket: bucket, Key: key, UploadId: id })
  await requests.run(task, ({ client, abortSignal }) => client.send(command, { abortSignal }), closing)
}

const closing = { whileClosing: true } as const
