import { HeadObjectCommand } from '@aws-sdk/client-s3'
import type { MountPath, Stat } from '@ws/core'
import { isMissing } from '../client/native.ts'
import type { Task } from '../client/requests.ts'
import { answeredVersion } from '../keys/etag.ts'
import { listOnce } from '../listing/request.ts'
import type { Store } from '../store.ts'
import { directoryStat, stateOf, type ObjectState } from './stat.ts'

/** A file or a directory. */
export type RealFound =
  | { readonly type: 'file'; readonly stat: Stat; readonly state: ObjectState }
  | { readonly type: 'directory'; readonly stat: Stat }

/** One HEAD; `undefined` when there is no such object. */
export async function headObject(store: Store, key: string, task: Task): Promise<ObjectState | undefined> {
  try {
    const headers = await store.requests.run(task, async ({ client, abortSignal }) => {
      const answer = await client.send(new HeadObjectCommand({ Bucket: store.bucket, Key: key }), { abortSignal })
      answeredVersion(answer.ETag)
      return answer
    })
    return stateOf(headers)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/** How many objects there are in a directory, its marker included, up to `limit`: one LIST. */
export async function countBelow(store: Store, path: MountPath, task: Task, limit = 1): Promise<number> {
  const answer = await listOnce(store, { Prefix: store.keys.directoryKey(path), MaxKeys: limit }, task)
  return answer.Contents?.length ?? 0
}

/** What is at a path, links left aside: a directory wins over an object of its name, which is reported. */
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
  if (head.value === undefined) return undefined
  const { stat, metadata } = head.value
  store.history.note(store.keys.key(path), stat.version, metadata.writes)
  return { type: 'file', stat, state: head.value }
}
