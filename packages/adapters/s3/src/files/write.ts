import type { WriteResult } from '@ws/core'
import type { MountPath, WriteData, AdapterOptions } from '@ws/core/adapter'
import type { ListedOption } from '@ws/core/inner'
import type { Task } from '../client/requests.ts'
import { failure } from '../errors.ts'
import { assertNoLink } from '../links/find.ts'
import { objectName, type Store } from '../store/store.ts'
import { isBytes, PartReader } from '../objects/content.ts'
import { withObject } from '../objects/locks.ts'
import { lookUp } from './lookup.ts'
import { hasObjects } from '../objects/lookup-real.ts'
import { uploadParts } from '../objects/multipart.ts'
import { bytesBody, putObject, type PutOptions } from '../objects/put.ts'
import { spool } from '../objects/spool.ts'

/** Creates or replaces a file. Bytes take one request, which the server checks; for a stream, the path is looked up first. */
export async function write(
  store: Store,
  path: MountPath,
  data: WriteData,
  options: AdapterOptions.Write & ListedOption,
  task: Task,
): Promise<WriteResult> {
  const { ifVersion, mode, modifiedAt } = options
  await checkPlace(store, path, isBytes(data) ? 'hints' : 'server', options, task)
  const put: PutOptions = { key: store.keys.key(path), condition: ifVersion, mode, modifiedAt, attributes: 'keep' }
  const result = isBytes(data)
    ? await withObject(objectName(store, put.key), 'shared', task, () => putObject(store, bytesBody(data), put, task))
    : await writeStream(store, data, put, task)
  store.hints.addAbove(path)
  return modifiedAt === undefined ? result : { ...result, modifiedAt }
}

/** Checks the path before a body is read. If a listing has just shown the path, the server's condition checks the rest. */
async function checkPlace(
  store: Store,
  path: MountPath,
  how: 'hints' | 'server',
  { ifVersion, listed = false }: AdapterOptions.Write & ListedOption,
  task: Task,
): Promise<void> {
  const { operation } = task
  const isKnown = listed && ifVersion !== undefined
  const refuse = (isDirectory: boolean): never => {
    throw failure(isDirectory && ifVersion === undefined ? 'EISDIR' : 'ECONFLICT', operation, path)
  }
  if (isKnown || (how === 'hints' && !store.links)) {
    if (!store.hints.has(path)) return
    if (await hasObjects(store, path, task)) refuse(true)
    store.hints.remove(path)
    return
  }
  const found = await lookUp(store, path, task)
  if (found?.type === 'directory') refuse(true)
  if (found?.type === 'symlink') {
    if (ifVersion === 'absent') refuse(false)
    await assertNoLink(store, path, task, { follow: true })
  }
  if (ifVersion === undefined) return
  if ((found === undefined ? 'absent' : found.stat.version) !== ifVersion) refuse(false)
}

async function writeStream(
  store: Store,
  data: AsyncIterable<Uint8Array>,
  put: PutOptions,
  task: Task,
): Promise<WriteResult> {
  const reader = new PartReader(data, store.partBytes, task)
  const shared = <Result>(run: () => Promise<Result>): Promise<Result> =>
    withObject(objectName(store, put.key), 'shared', task, run)
  try {
    const first = await reader.next()
    if (reader.ended) return await shared(() => putObject(store, bytesBody(first), put, task))
    if (put.condition === undefined || (await store.uploadFacts(task)).conditionalComplete) {
      return await shared(() => uploadParts(store, reader, first, put, task))
    }
    const { body, remove } = await spool(reader, first, task)
    try {
      return await shared(() => putObject(store, body, put, task))
    } finally {
      await remove()
    }
  } catch (error) {
    reader.release()
    throw error
  }
}
