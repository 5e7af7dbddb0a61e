import { DeleteObjectCommand, DeleteObjectsCommand } from '@aws-sdk/client-s3'
import { type Version, forEachOf } from '@ws/core'
import { isMissing } from '../client/native.ts'
import type { Task } from '../client/requests.ts'
import { failure } from '../errors.ts'
import { headObject } from '../objects/lookup-real.ts'
import { withObject } from '../objects/locks.ts'
import type { Store } from '../store.ts'
import { conditionHeaders, isRefusal } from '../objects/conditional.ts'

/** Deletes one object; that it is not there is no error. */
export async function deleteObject({ requests, bucket }: Store, key: string, task: Task): Promise<void> {
  try {
    await requests.run(task, ({ client, abortSignal }) =>
      client.send(new DeleteObjectCommand({ Bucket: bucket, Key: key }), { abortSignal }),
    )
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}

/** Deletes an object in one version only: the server sees to it, or this process among its own writers. */
export async function deleteVersion(store: Store, key: string, version: Version, task: Task): Promise<void> {
  const { requests, bucket, dialect } = store
  const conflict = (): Error => failure('ECONFLICT', task.operation, task.path)
  if (!dialect.conditionalDelete) {
    await withObject(`${bucket}/${key}`, 'exclusive', async () => {
      const state = await headObject(store, key, task)
      if (state === undefined) throw failure('ENOENT', task.operation, task.path)
      if (state.stat.version !== version) throw conflict()
      await deleteObject(store, key, task)
    })
    return
  }
  const { IfMatch } = conditionHeaders(store, version, task)
  let again = false
  try {
    await requests.run(task, async ({ client, abortSignal, repeated }) => {
      again = repeated
      await client.send(new DeleteObjectCommand({ Bucket: bucket, Key: key, ...(IfMatch && { IfMatch }) }), {
        abortSignal,
      })
    })
  } catch (error) {
    if (!isRefusal(error)) throw error
    // it is gone: by the attempt whose answer was lost
    if (again && (await headObject(store, key, task)) === undefined) return
    throw conflict()
  }
}

/** Some of a batch could not be deleted. */
export class BatchError extends Error {
  /** The SDK's errors have a name; this is that of the first key that failed. */
  readonly Code: string
  readonly failedKeys: readonly string[]

  constructor(code: string, keys: readonly string[]) {
    super(`${keys.length} objects could not be deleted`)
    this.name = 'BatchError'
    this.Code = code
    this.failedKeys = keys
  }
}

/** Deletes up to a thousand objects with one request; those that fail for a reason that passes are tried again. */
export async function deleteBatch(store: Store, keys: readonly string[], task: Task): Promise<void> {
  const single = keys.filter((key) => unfitForXml.test(key))
  let left = single.length === 0 ? [...keys] : keys.filter((key) => !unfitForXml.test(key))
  if (left.length > 0) {
    await store.requests.run(task, async ({ client, abortSignal }) => {
      const command = new DeleteObjectsCommand({
        Bucket: store.bucket,
        Delete: { Objects: left.map((Key) => ({ Key })) },
      })
      // not `Quiet`: an answer that was emptied on its way would look like success
      const { Deleted = [], Errors = [] } = await client.send(command, { abortSignal })
      const done = new Set<string | undefined>(Deleted.map(({ Key }) => Key))
      for (const { Key, Code } of Errors) if (Code === 'NoSuchKey') done.add(Key)
      left = left.filter((key) => !done.has(key))
      if (left.length === 0) return
      throw new BatchError(Errors.find(({ Code }) => Code !== 'NoSuchKey')?.Code ?? 'InternalError', left)
    })
  }
  await forEachOf(single, store.concurrency, (key) => deleteObject(store, key, task))
}

// XML cannot hold control characters, and servers may take white space at the ends for nothing
// eslint-disable-next-line no-control-regex -- control characters are what is looked for
const unfitForXml = /[\u0000-\u001f\u007f-\u009f\ufffe\uffff]|^\s|\s$/u
