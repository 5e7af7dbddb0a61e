import { GetObjectCommand, HeadObjectCommand } from '@aws-sdk/client-s3'
import type { Stat } from '@ws/core'
import type { MountPath } from '@ws/core/adapter'
import { isMissing, isWordless, statusOf } from '../client/native.ts'
import type { Attempt, Task } from '../client/requests.ts'
import type { Readable } from 'node:stream'
import { answeredVersion } from '../keys/etag.ts'
import { listOnce } from './list-once.ts'
import type { Store } from '../store.ts'
import { discard } from './discard.ts'
import { directoryStat, stateOf, type ObjectState } from './stat.ts'

export type RealFound =
  | { readonly type: 'file'; readonly stat: Stat; readonly state: ObjectState }
  | { readonly type: 'directory'; readonly stat: Stat }

/** One HEAD; `undefined` when there is no such object. */
export async function headObject(store: Store, key: string, task: Task): Promise<ObjectState | undefined> {
  try {
    return await store.requests.run(task, (attempt) => headOnce(store, key, attempt))
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/** The same within one attempt. */
export async function headOnce({ bucket }: Store, key: string, attempt: Attempt): Promise<ObjectState | undefined> {
  const head = async (): Promise<ObjectState | undefined> => {
    const command = new HeadObjectCommand({ Bucket: bucket, Key: key })
    try {
      const answer = await attempt.client.send(command, { abortSignal: attempt.abortSignal })
      answeredVersion(answer.ETag)
      return stateOf(answer)
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    }
  }
  try {
    return await head()
  } catch (error) {
    if (!isWordless(error)) throw error
    await askWhy(bucket, key, attempt)
    return await head()
  }
}

/** HEAD has no words for what is wrong: GET has. @throws its error, if it is refused as well. */
async function askWhy(bucket: string, key: string, { client, abortSignal }: Attempt): Promise<void> {
  const command = new GetObjectCommand({ Bucket: bucket, Key: key, Range: 'bytes=0-0' })
  try {
    discard((await client.send(command, { abortSignal })).Body as unknown as Readable)
  } catch (error) {
    if (!isMissing(error) && statusOf(error) !== 416) throw error
  }
}

/** How many objects there are in a directory, its marker included, up to `limit`: one LIST. */
export async function countBelow(store: Store, path: MountPath, task: Task, limit = 1): Promise<number> {
  const answer = await listOnce(store, { Prefix: store.keys.directoryKey(path), MaxKeys: limit }, task)
  return answer.Contents?.length ?? 0
}

/** The entry at a path, links left aside: a directory wins over an object of its name, which is reported. */
export async function lookUpReal(store: Store, path: MountPath, task: Task): Promise<RealFound | undefined> {
  if (path === '/') {
    await countBelow(store, path, task) // the bucket may be gone
    return { type: 'directory', stat: directoryStat }
  }
  // the listing says why nothing is found: HEAD has no words for a bucket that is missing
  const [head, below] = await Promise.allSettled([
    headObject(store, store.keys.key(path), task),
    countBelow(store, path, task),
  ])
  if (below.status === 'rejected') throw below.reason
  if (head.status === 'rejected') throw head.reason
  if (below.value > 0) {
    store.hints.add(path)
    if (head.value !== undefined) store.report({ kind: 'hidden-file', path })
    return { type: 'directory', stat: directoryStat }
  }
  store.hints.remove(path)
  const key = store.keys.key(path)
  if (head.value === undefined) {
    store.history.noteAbsent(key)
    return undefined
  }
  store.history.noteState(key, head.value)
  return { type: 'file', stat: head.value.stat, state: head.value }
}
