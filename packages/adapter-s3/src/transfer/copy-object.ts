import { CopyObjectCommand } from '@aws-sdk/client-s3'
import type { Condition, MountPath, Version } from '@ws/core'
import type { Task } from '../client/requests.ts'
import { failure } from '../errors.ts'
import { answeredVersion, conditionOf } from '../keys/etag.ts'
import { copySource } from '../keys/key-space.ts'
import { conditionHeaders, isRefusal } from '../objects/conditional.ts'
import { PartReader } from '../objects/content.ts'
import { withObject } from '../objects/locks.ts'
import { headObject } from '../objects/lookup-real.ts'
import { uploadParts } from '../objects/multipart.ts'
import { bytesBody, putObject } from '../objects/put.ts'
import { read } from '../objects/read.ts'
import { readStream } from '../objects/read-stream.ts'
import { maxPutBytes } from '../objects/spool.ts'
import type { ObjectState } from '../objects/stat.ts'
import type { Store } from '../store.ts'

export interface ObjectCopy {
  readonly source: MountPath
  readonly sourceKey: string
  /** What is copied: exactly this state, where that can be told. */
  readonly state: ObjectState
  readonly destination: MountPath
  readonly destinationKey: string
  /** What must be at the destination. `undefined`: whatever is there is replaced. */
  readonly condition?: Condition | undefined
}

/** Copies one object; the version at the destination. @throws `ECONFLICT` that names the side that was not as expected. */
export async function copyObject(store: Store, copy: ObjectCopy, task: Task): Promise<Version> {
  const { condition, destinationKey, state } = copy
  const { conditionalCopyDestination, conditionalCopySource } = store.dialect
  if (state.stat.size > maxPutBytes) return locked(store, copy, task, () => copyThrough(store, copy, task))
  const object = `${store.bucket}/${destinationKey}`
  if (condition === undefined || conditionalCopyDestination) {
    return withObject(object, 'shared', () => copyInStore(store, copy, task))
  }
  // as many requests as looking first, and checked by the server
  const isFile = copy.sourceKey === store.keys.key(copy.source)
  const plain = isFile && state.stat.size <= store.partBytes && conditionalCopySource
  if (plain && store.dialect.conditionalPut && !destinationKey.endsWith('/')) {
    return withObject(object, 'shared', () => copySmall(store, copy, task))
  }
  return locked(store, copy, task, () => copyInStore(store, { ...copy, condition: undefined }, task))
}

/** Looks at the destination while no other writer of this process is at it. */
async function locked(store: Store, copy: ObjectCopy, task: Task, run: () => Promise<Version>): Promise<Version> {
  const { destination, destinationKey, condition } = copy
  if (condition === undefined) return run()
  return withObject(`${store.bucket}/${destinationKey}`, 'exclusive', async () => {
    const there = await headObject(store, destinationKey, task)
    if ((there?.stat.version ?? 'absent') !== condition) throw failure('ECONFLICT', task.operation, destination)
    return run()
  })
}

/** The store copies; no byte comes here. Time, mode and whatever else the object has go with it. */
async function copyInStore(store: Store, copy: ObjectCopy, task: Task): Promise<Version> {
  const { source, sourceKey, destination, destinationKey, condition, state } = copy
  const { dialect, bucket } = store
  const etag = dialect.conditionalCopySource ? conditionOf(state.stat.version, dialect) : undefined
  const headers = conditionHeaders(store, condition, { ...task, path: destination })
  try {
    return await store.requests.run(
      task,
      async ({ client, abortSignal, repeated }) => {
        const command = new CopyObjectCommand({
          Bucket: bucket,
          Key: destinationKey,
          CopySource: copySource(bucket, sourceKey),
          ...(etag === undefined ? {} : { CopySourceIfMatch: etag }),
          ...headers,
        })
        try {
          return answeredVersion((await client.send(command, { abortSignal })).CopyObjectResult?.ETag)
        } catch (error) {
          // the attempt before may have done it: what is there is then what was to be copied
          const there = repeated && isRefusal(error) ? await headObject(store, destinationKey, task) : undefined
          const same = there?.stat.version === state.stat.version
          if (there === undefined || !same || there.metadata.writes[0] !== state.metadata.writes[0]) throw error
          return there.stat.version
        }
      },
      state.stat.size,
    )
  } catch (error) {
    if (!isRefusal(error)) throw error
    const now = await headObject(store, sourceKey, task)
    if (now === undefined) throw failure('ENOENT', task.operation, source)
    const side = now.stat.version === state.stat.version ? destination : source
    throw failure('ECONFLICT', task.operation, side)
  }
}

/** By way of this machine, with the condition on one PUT. */
async function copySmall(store: Store, copy: ObjectCopy, task: Task): Promise<Version> {
  const { source, destination, destinationKey, condition, state } = copy
  const { bytes } = await read(store, source, { ifVersion: state.stat.version }, { ...task, path: source })
  const { mode, modifiedAt } = state.stat
  const options = { key: destinationKey, condition, mode, modifiedAt, contentType: state.headers.ContentType }
  const { version } = await putObject(store, bytesBody(bytes), options, { ...task, path: destination })
  return version
}

/** Larger than what a store copies in one request: in parts, by way of this machine. */
async function copyThrough(store: Store, copy: ObjectCopy, task: Task): Promise<Version> {
  const { source, destination, destinationKey, state } = copy
  const { mode, modifiedAt, version: ifVersion } = state.stat
  const { stream } = await readStream(store, source, { ifVersion }, { ...task, path: source })
  const reader = new PartReader(stream, store.partBytes, destination, task.signal)
  try {
    const options = { key: destinationKey, mode, modifiedAt, contentType: state.headers.ContentType }
    const { version } = await uploadParts(store, reader, await reader.next(), options, { ...task, path: destination })
    return version
  } finally {
    reader.release()
  }
}
