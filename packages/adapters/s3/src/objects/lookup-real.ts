import { GetObjectCommand, HeadObjectCommand } from '@aws-sdk/client-s3'
import type { Stat } from '@ws/core'
import type { MountPath } from '@ws/core/adapter'
import { isMissing, isWordless, statusOf } from '../client/native.ts'
import { listOnce } from '../client/list-once.ts'
import type { Attempt, Task } from '../client/requests.ts'
import type { Readable } from 'node:stream'
import { decodeKey } from '../keys/decode.ts'
import { answeredVersion } from '../keys/etag.ts'
import { endOfReserved } from '../keys/names.ts'
import type { Store } from '../store/store.ts'
import { discard } from './discard.ts'
import { directoryStat, stateOf, type ObjectState } from '../headers/stat.ts'

export type RealFound =
  | { readonly type: 'file'; readonly stat: Stat; readonly state: ObjectState }
  | { readonly type: 'directory'; readonly stat: Stat }

export async function headObject(store: Store, key: string, task: Task): Promise<ObjectState | undefined> {
  try {
    return await store.requests.run(task, (attempt) => headOnce(store, key, attempt))
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

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

/** Sends a GET for the reason that HEAD lacks. @throws its error, if the GET is refused too */
async function askWhy(bucket: string, key: string, { client, abortSignal }: Attempt): Promise<void> {
  const command = new GetObjectCommand({ Bucket: bucket, Key: key, Range: 'bytes=0-0' })
  try {
    discard((await client.send(command, { abortSignal })).Body as unknown as Readable)
  } catch (error) {
    if (!isMissing(error) && statusOf(error) !== 416) throw error
  }
}

/** Whether a directory has a marker or objects, other than the adapters' own objects. Takes one LIST. */
export async function hasObjects(store: Store, path: MountPath, task: Task): Promise<boolean> {
  const Prefix = store.keys.directoryKey(path)
  for (let position = {}; ; ) {
    const input = { Prefix, MaxKeys: 1, EncodingType: 'url', ...position } as const
    const { Contents: [found] = [], EncodingType } = await listOnce(store, input, task)
    if (found === undefined) return false
    const { key, shown } = EncodingType === 'url' ? decodeKey(found.Key ?? '') : { key: found.Key, shown: '' }
    const hidden = endOfReserved((key ?? shown).slice(Prefix.length))
    if (hidden === 0) return true
    position = { StartAfter: `${(key ?? shown).slice(0, Prefix.length + hidden)}\u{10ffff}` }
  }
}

/** The entry at a path, without links. A directory hides an object of the same name, which is reported. */
export async function lookUpReal(store: Store, path: MountPath, task: Task): Promise<RealFound | undefined> {
  if (path === '/') {
    await hasObjects(store, path, task) // the bucket may be gone
    return { type: 'directory', stat: directoryStat }
  }
  // the listing gives the reason: HEAD cannot name a missing bucket
  const [head, below] = await Promise.allSettled([
    headObject(store, store.keys.key(path), task),
    hasObjects(store, path, task),
  ])
  if (below.status === 'rejected') throw below.reason
  if (head.status === 'rejected') throw head.reason
  if (below.value) {
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
