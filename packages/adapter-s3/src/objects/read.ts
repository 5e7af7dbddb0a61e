import { type ByteRange, checkReadSize, type MountPath, type ReadOptions, type ReadResult } from '@ws/core'
import { isMissing, statusOf } from '../client/native.ts'
import { type Attempt, type Task } from '../client/requests.ts'
import { DamagedBodyError } from '../client/retry.ts'
import { failure, invalid } from '../errors.ts'
import { assertNoLink } from '../links/find.ts'
import type { Store } from '../store.ts'
import { discard, getObject, type OpenObject } from './get.ts'
import { countBelow, headObject } from './lookup-real.ts'
import type { ObjectState } from './stat.ts'
import { Verifier } from './verify.ts'

/** Bytes up to which a body is expected in the ordinary time. */
const smallBytes = 1024 * 1024

export async function read(store: Store, path: MountPath, options: ReadOptions, task: Task): Promise<ReadResult> {
  const { range, ifVersion, maxBytes } = options
  assertRange(range, task)
  if (path === '/') throw failure('EISDIR', task.operation, path)
  if (range?.length === 0) return { bytes: new Uint8Array(), stat: (await stateAt(store, path, options, task)).stat }
  // a digest that comes twice is no damage: then the ETag is no checksum
  let digest: string | undefined
  try {
    return await store.requests.run(task, async (attempt) => {
      const opened = await getObject(store, store.keys.key(path), attempt, range)
      try {
        checkVersion(opened.state, ifVersion, task)
        checkReadSize(task.operation, path, opened.expected, maxBytes)
        const verifier = range === undefined ? Verifier.for(opened.state.headers, store.dialect) : undefined
        const bytes = await collect(opened, attempt, verifier)
        const found = verifier?.digest()
        if (found !== undefined && verifier?.isExpected(found) !== true && found !== digest) {
          digest = found
          throw new DamagedBodyError('the checksum differs', found)
        }
        const { stat, metadata } = opened.state
        store.history.note(store.keys.key(path), stat.version, metadata.writes)
        return { bytes, stat }
      } catch (error) {
        discard(opened.body)
        throw error
      }
    })
  } catch (error) {
    if (statusOf(error) === 416) {
      const { stat } = await stateAt(store, path, options, task)
      return { bytes: new Uint8Array(), stat }
    }
    throw await explainMiss(store, path, error, task)
  }
}

/** What is wrong where no object was found: a directory, a link, or nothing. Other errors are given back. */
export async function explainMiss(store: Store, path: MountPath, error: unknown, task: Task): Promise<unknown> {
  if (!isMissing(error)) return error
  if ((await countBelow(store, path, task)) > 0) {
    store.hints.add(path)
    return failure('EISDIR', task.operation, path)
  }
  await assertNoLink(store, path, task, { follow: true })
  return failure('ENOENT', task.operation, path)
}

/** The state of a file of which no byte is wanted. */
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

export function assertRange(range: ByteRange | undefined, { operation, path }: Task): void {
  if (range === undefined) return
  const { offset, length } = range
  const valid = Number.isSafeInteger(offset) && offset >= 0
  if (valid && (length === undefined || (Number.isSafeInteger(length) && length >= 0))) return
  throw invalid(operation, path, 'cannot be read in that range', 'give offset and length as whole numbers from 0')
}

/** All of a body, in an array of the caller's own. */
async function collect(
  { body, expected }: OpenObject,
  { abortSignal, alive }: Attempt,
  verifier: Verifier | undefined,
): Promise<Uint8Array> {
  const bytes = new Uint8Array(expected)
  let filled = 0
  const end = (): void => discard(body)
  abortSignal.addEventListener('abort', end, { once: true })
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      if (filled + chunk.length > expected) throw new DamagedBodyError('more bytes came than were announced')
      bytes.set(chunk, filled)
      verifier?.update(chunk)
      filled += chunk.length
      if (expected > smallBytes) alive()
    }
  } finally {
    abortSignal.removeEventListener('abort', end)
  }
  if (filled < expected) throw new DamagedBodyError(`${filled} of ${expected} bytes came`)
  return bytes
}
