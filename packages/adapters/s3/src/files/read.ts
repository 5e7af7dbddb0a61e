import type { ReadResult } from '@ws/core'
import { checkReadSize, type MountPath, type AdapterOptions } from '@ws/core/adapter'
import { isMissing, statusOf } from '../client/native.ts'
import type { Task } from '../client/requests.ts'
import { DamagedBodyError } from '../client/retry.ts'
import { failure } from '../errors.ts'
import { assertNoLink } from '../links/find.ts'
import type { Store } from '../store/store.ts'
import { discard } from '../objects/discard.ts'
import { collect, getObject } from '../objects/get.ts'
import { hasObjects, headObject } from '../objects/lookup-real.ts'
import type { ObjectState } from '../headers/stat.ts'
import { settleDoubt, verifierFor } from '../objects/verify.ts'

type ReadOptions = AdapterOptions.Read

export async function read(store: Store, path: MountPath, options: ReadOptions, task: Task): Promise<ReadResult> {
  const { range } = options
  if (path === '/') throw failure('EISDIR', task.operation, path)
  const none = async (): Promise<ReadResult> => {
    const { stat } = await stateAt(store, path, options, task)
    return { bytes: new Uint8Array(), stat }
  }
  if (range?.length === 0) return none()
  try {
    const { bytes, state } = await readObject(store, path, options, task)
    return { bytes, stat: state.stat }
  } catch (error) {
    if (statusOf(error) === 416) return none()
    throw error
  }
}

/** Reads a file with its state. A foreign ETag may not be a checksum: then two equal reads are accepted, except with `strict`. */
export async function readObject(
  store: Store,
  path: MountPath,
  { range, ifVersion, maxBytes }: ReadOptions,
  task: Task,
  { strict = false } = {},
): Promise<{ readonly bytes: Uint8Array; readonly state: ObjectState }> {
  const key = store.keys.key(path)
  let doubted: string | undefined
  try {
    return await store.requests.run(task, async (attempt) => {
      const opened = await getObject(store, key, attempt, range)
      const { state } = opened
      try {
        checkVersion(state, ifVersion, task)
        checkReadSize(task.operation, path, opened.expected, maxBytes)
        const verifier = range === undefined ? verifierFor(state, store.dialect) : undefined
        const bytes = await collect(opened, attempt, (chunk) => verifier?.update(chunk))
        const { verdict: first = 'right', digest } = (await verifier?.verdict()) ?? {}
        const verdict = first === 'doubtful' ? settleDoubt(bytes, state, store.dialect) : first
        const isExcused = verdict === 'doubtful' && !strict && digest === doubted
        doubted = digest
        if (verdict !== 'right' && !isExcused) throw new DamagedBodyError('the checksum differs') // @defence bytes of a store that arrive damaged: is EIO for read and readStream
        store.history.noteState(key, state)
        return { bytes, state }
      } catch (error) {
        discard(opened.body)
        throw error
      }
    })
  } catch (error) {
    if (isMissing(error)) store.history.noteAbsent(key)
    throw await explainMiss(store, path, error, task)
  }
}

/** The error for a missing object: a directory, a link, or no entry. Other errors are returned unchanged. */
export async function explainMiss(store: Store, path: MountPath, error: unknown, task: Task): Promise<unknown> {
  if (!isMissing(error)) return error
  if (await hasObjects(store, path, task)) {
    store.hints.add(path)
    return failure('EISDIR', task.operation, path)
  }
  await assertNoLink(store, path, task, { follow: true })
  return failure('ENOENT', task.operation, path)
}

export async function stateAt(
  store: Store,
  path: MountPath,
  { ifVersion }: Pick<ReadOptions, 'ifVersion'>,
  task: Task,
): Promise<ObjectState> {
  const state = await headObject(store, store.keys.key(path), task)
  if (state === undefined) throw await explainMiss(store, path, { $metadata: { httpStatusCode: 404 } }, task)
  checkVersion(state, ifVersion, task)
  return state
}

export function checkVersion({ stat }: ObjectState, ifVersion: string | undefined, task: Task): void {
  if (ifVersion !== undefined && ifVersion !== stat.version) throw failure('ECONFLICT', task.operation, task.path)
}
