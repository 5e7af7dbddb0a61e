import type { Version } from '@ws/core'
import type { Condition, MountPath } from '@ws/core/adapter'
import { nativeNameOf, statusOf } from '../client/native.ts'
import type { Task } from '../client/requests.ts'
import { failure } from '../errors.ts'
import { withObject } from '../objects/locks.ts'
import { headObject } from '../objects/lookup-real.ts'
import { PartReader } from '../objects/content.ts'
import { uploadParts } from '../objects/multipart.ts'
import { bytesBody, putObject } from '../objects/put.ts'
import { readObject } from '../files/read.ts'
import { readStream } from '../files/read-stream.ts'
import type { ObjectState } from '../headers/stat.ts'
import { objectName, type Store } from '../store/store.ts'
import { copyByParts } from './copy-parts.ts'
import { checksSource, copyInStore } from './copy-in-store.ts'

export interface ObjectCopy {
  readonly source: MountPath
  readonly sourceKey: string
  /** The source's exact state, if the store can check it. */
  readonly state: ObjectState
  readonly destination: MountPath
  readonly destinationKey: string
  /** A condition on the destination. Without it, any destination is replaced. */
  readonly condition?: Condition | undefined
}

/** Copies one object, and returns its new version. @throws `ECONFLICT` that names the side that has changed */
export async function copyObject(store: Store, copy: ObjectCopy, task: Task): Promise<Version> {
  const { sourceKey, destinationKey } = copy
  const held: Guard = (run) => withObject(objectName(store, sourceKey), 'exclusive', task, run)
  const free: Guard = (run) => run()
  if (!checksSource(store, copy)) return copyTo(store, copy, task, free)
  // always locked in this order, to avoid a deadlock
  if (sourceKey < destinationKey) return held(() => copyTo(store, copy, task, free))
  return copyTo(store, copy, task, held)
}

type Guard = (run: () => Promise<Version>) => Promise<Version>

/** @param guard wraps reads of the source */
async function copyTo(store: Store, copy: ObjectCopy, task: Task, guard: Guard): Promise<Version> {
  const { condition, destinationKey, state } = copy
  const { conditionalCopyDestination, conditionalCopySource } = store.dialect
  if (state.stat.size > store.copyPartBytes)
    return locked(store, copy, task, () => guard(() => copyLarge(store, copy, task)))
  const object = objectName(store, destinationKey)
  if (condition === undefined || conditionalCopyDestination) {
    return withObject(object, 'shared', task, () => guard(() => copyInStore(store, copy, task)))
  }
  // a GET and a PUT cost as much as a lookup and a copy, but here the server checks the condition
  const isFile = copy.sourceKey === store.keys.key(copy.source)
  const plain = isFile && state.stat.size <= store.partBytes && conditionalCopySource
  if (plain && store.dialect.conditionalPut && !destinationKey.endsWith('/')) {
    return withObject(object, 'shared', task, () => copySmall(store, copy, task))
  }
  return locked(store, copy, task, () => guard(() => copyInStore(store, { ...copy, condition: undefined }, task)))
}

/** Checks the destination while other writers of this process wait. */
async function locked(store: Store, copy: ObjectCopy, task: Task, run: () => Promise<Version>): Promise<Version> {
  const { destination, destinationKey, condition } = copy
  if (condition === undefined) return run()
  return withObject(objectName(store, destinationKey), 'exclusive', task, async () => {
    const there = await headObject(store, destinationKey, task)
    if ((there?.stat.version ?? 'absent') !== condition) throw failure('ECONFLICT', task.operation, destination)
    return run()
  })
}

async function copySmall(store: Store, copy: ObjectCopy, task: Task): Promise<Version> {
  const { source, destination, destinationKey, condition, state } = copy
  const from = { ...task, path: source }
  const { bytes } = await readObject(store, source, { ifVersion: state.stat.version }, from, { strict: true })
  const { mode, modifiedAt } = state.stat
  const options = { key: destinationKey, condition, mode, modifiedAt, attributes: state.attributes }
  const { version } = await putObject(store, bytesBody(bytes), options, { ...task, path: destination })
  return version
}

/** Copies an object part by part, within the store if possible. */
async function copyLarge(store: Store, copy: ObjectCopy, task: Task): Promise<Version> {
  // a listing does not include type and metadata
  const state = await headObject(store, copy.sourceKey, task)
  if (state === undefined) throw failure('ENOENT', task.operation, copy.source)
  if (state.stat.version !== copy.state.stat.version) throw failure('ECONFLICT', task.operation, copy.source)
  try {
    return await copyByParts(store, { ...copy, state }, task)
  } catch (error) {
    if (statusOf(error) !== 501 && nativeNameOf(error) !== 'NotImplemented') throw error
    return copyThrough(store, { ...copy, state }, task)
  }
}

async function copyThrough(store: Store, copy: ObjectCopy, task: Task): Promise<Version> {
  const { source, destination, destinationKey, state } = copy
  const { mode, modifiedAt, version: ifVersion } = state.stat
  const { stream } = await readStream(store, source, { ifVersion }, { ...task, path: source })
  const reader = new PartReader(stream, store.partBytes, task)
  try {
    const options = { key: destinationKey, mode, modifiedAt, attributes: state.attributes }
    const { version } = await uploadParts(store, reader, await reader.next(), options, { ...task, path: destination })
    return version
  } finally {
    reader.release()
  }
}
