import { DeleteObjectCommand, DeleteObjectsCommand } from '@aws-sdk/client-s3'
import { createHash } from 'node:crypto'
import { isWorkspaceError, type Version } from '@ws/core'
import { concurrency } from '@ws/core/adapter'
import { isMissing } from '../client/native.ts'
import type { Attempt, Fate, Task } from '../client/requests.ts'
import { failure } from '../errors.ts'
import { versionOf } from '../keys/etag.ts'
import { changing, changingAll } from '../objects/effects.ts'
import { withObject, withObjects } from '../objects/locks.ts'
import { headObject, headOnce } from '../objects/lookup-real.ts'
import { makeWriteId } from '../headers/metadata.ts'
import { outcomeOf, startOfId, unknownError, type Effort } from '../objects/outcome.ts'
import { isSameObject, type ObjectState } from '../headers/stat.ts'
import { objectName, type Store } from '../store/store.ts'
import { conditionHeaders, conditionOn, isRefusal } from '../objects/conditional.ts'

/**
 * Deletes one object, if it exists. After a lost answer, deletes only the state `seen`. Without `seen`, the state must certainly be older.
 * Waits for writers of this process that rely on their lookup of the object.
 */
export async function deleteObject(store: Store, key: string, task: Task, seen?: ObjectState): Promise<void> {
  await withObject(objectName(store, key), 'delete', task, () => deleteHeld(store, key, task, seen))
}

async function deleteHeld(store: Store, key: string, task: Task, seen?: ObjectState): Promise<void> {
  const { requests, bucket, dialect, history } = store
  const effort = begin(store, key)
  const fate: Fate = { lost: false }
  const attemptOnce = async (attempt: Attempt): Promise<void> => {
    const { client, abortSignal } = attempt
    let condition = {}
    if (fate.lost) {
      const now = await headOnce(store, key, attempt)
      if (now === undefined) return
      const isSame = seen === undefined ? outcomeOf(store, effort, now) === 'not-done' : isSameObject(now, seen)
      if (!isSame) throw unknownError(effort, task)
      if (dialect.conditionalDelete) condition = conditionHeaders(store, conditionOn(now), task)
    }
    await client.send(new DeleteObjectCommand({ Bucket: bucket, Key: key, ...condition }), { abortSignal })
  }
  try {
    await changing(store, key, undefined, task, () => requests.run(task, attemptOnce, { fate }))
  } catch (error) {
    if (!isMissing(error)) throw isUncertain(error, fate, task) ? unknownError(effort, task, error) : error
  }
  history.noteAbsent(key)
}

/** Deletes one version of an object. The server checks the version, or this process does, with its own writers locked out. */
export async function deleteVersion(store: Store, key: string, version: Version, task: Task): Promise<void> {
  const { requests, bucket, dialect, history } = store
  const conflict = (): Error => failure('ECONFLICT', task.operation, task.path)
  if (!dialect.conditionalDelete) {
    await withObject(objectName(store, key), 'exclusive', task, async () => {
      const state = await headObject(store, key, task)
      if (state === undefined) throw failure('ENOENT', task.operation, task.path)
      if (state.stat.version !== version) throw conflict()
      await deleteHeld(store, key, task, state)
    })
    return
  }
  const { IfMatch } = conditionHeaders(store, version, task)
  const effort = begin(store, key)
  const fate: Fate = { lost: false }
  try {
    const command = new DeleteObjectCommand({ Bucket: bucket, Key: key, ...(IfMatch && { IfMatch }) })
    await withObject(objectName(store, key), 'delete', task, () =>
      requests.run(task, ({ client, abortSignal }) => client.send(command, { abortSignal }), { fate }),
    )
  } catch (error) {
    if (!isRefusal(error)) throw isUncertain(error, fate, task) ? unknownError(effort, task, error) : error
    if (!fate.lost) throw conflict()
    // an earlier attempt, whose answer was lost, may have deleted the object
    const now = await headObject(store, key, task)
    if (now !== undefined) throw outcomeOf(store, effort, now) === 'not-done' ? conflict() : unknownError(effort, task)
  }
  history.noteAbsent(key)
}

export class BatchError extends Error {
  readonly Code: string
  readonly failedKeys: readonly string[]

  constructor(code: string, keys: readonly string[]) {
    super(`${keys.length} objects could not be deleted`)
    this.name = 'BatchError'
    this.Code = code
    this.failedKeys = keys
  }
}

export interface ListedObject {
  readonly key: string
  readonly etag: string | undefined
  readonly modifiedAt: number | undefined
}

/** Adds a header that OpenStack Swift requires. S3 accepts it beside the SDK's checksum. */
function withContentMd5({ middlewareStack }: DeleteObjectsCommand): void {
  middlewareStack.add(
    (next) => (given) => {
      const request = given.request as { readonly body?: unknown; readonly headers: Record<string, string> }
      const { body } = request
      if (typeof body === 'string' || body instanceof Uint8Array) {
        request.headers['content-md5'] = createHash('md5').update(body).digest('base64')
      }
      return next(given)
    },
    { step: 'build', name: 'contentMd5' },
  )
}

/** Deletes up to 1,000 objects with one request. Failed objects are tried again while they are unchanged since the listing. */
export async function deleteBatch(store: Store, objects: readonly ListedObject[], task: Task): Promise<void> {
  const single = objects.filter(({ key }) => unfitForXml.test(key))
  let left = objects.filter(({ key }) => !unfitForXml.test(key))
  const effort = begin(store, left[0]?.key ?? '')
  const fate: Fate = { lost: false }
  const attemptOnce = async (attempt: Attempt): Promise<void> => {
    const { client, abortSignal } = attempt
    if (fate.lost) left = await stillThere(left, attempt)
    if (left.length === 0) return
    const Objects = left.map(({ key }) => ({ Key: key }))
    const command = new DeleteObjectsCommand({ Bucket: store.bucket, Delete: { Objects } })
    withContentMd5(command)
    // not `Quiet`: a truncated answer would look like success
    const { Deleted = [], Errors = [] } = await client.send(command, { abortSignal })
    const done = new Set<string | undefined>(Deleted.map(({ Key }) => Key))
    for (const { Key, Code } of Errors) if (Code === 'NoSuchKey') done.add(Key)
    left = left.filter(({ key }) => !done.has(key))
    if (left.length === 0) return
    const code = Errors.find(({ Code }) => Code !== 'NoSuchKey')?.Code ?? 'InternalError'
    throw new BatchError(
      code,
      left.map(({ key }) => key),
    )
  }
  try {
    const keys = left.map(({ key }) => key)
    const names = keys.map((key) => objectName(store, key))
    if (left.length > 0)
      await withObjects(names, 'delete', task, () =>
        changingAll(store, keys, task, () => store.requests.run(task, attemptOnce, { fate })),
      )
  } catch (error) {
    const isPartial = error instanceof BatchError
    throw !isPartial && isUncertain(error, fate, task) ? unknownError(effort, task, error) : error
  }
  for (const { key } of objects) store.history.noteAbsent(key)
  await concurrency.forEachOf(single, store.concurrency, ({ key }) => deleteObject(store, key, task))

  async function stillThere(listed: readonly ListedObject[], attempt: Attempt): Promise<ListedObject[]> {
    const found: ListedObject[] = []
    await concurrency.forEachOf(listed, store.concurrency, async (object) => {
      const now = await headOnce(store, object.key, attempt)
      if (now === undefined) return
      if (!isListed(now, object)) throw unknownError({ ...effort, key: object.key }, task)
      found.push(object)
    })
    return found
  }
}

function begin(store: Store, key: string): Effort {
  return { id: makeWriteId(), key, since: performance.now(), startedAt: startOfId(store) }
}

function isUncertain(error: unknown, { lost }: Fate, { signal }: Task): boolean {
  return lost && !isWorkspaceError(error) && signal?.aborted !== true
}

/** Compares an object with its listing. Times in headers are whole seconds. */
function isListed({ stat, headers }: ObjectState, { etag, modifiedAt }: ListedObject): boolean {
  const seconds = (time: number | undefined): number => Math.floor((time ?? 0) / 1000)
  return stat.version === versionOf(etag) && seconds(headers.LastModified?.getTime()) === seconds(modifiedAt)
}

// XML cannot contain control characters, and servers may trim white space at the ends
// eslint-disable-next-line no-control-regex -- control characters are what is looked for
const unfitForXml = /[\u0000-\u001f\u007f-\u009f\ufffe\uffff]|^\s|\s$/u
