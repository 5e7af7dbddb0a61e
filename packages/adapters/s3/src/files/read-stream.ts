import { WorkspaceError } from '@ws/core'
import type { AdapterOptions, MountPath, ReadStreamResult } from '@ws/core/adapter'
import type { Deadline } from '../client/deadline.ts'
import { translate } from '../client/failures.ts'
import { isMissing, statusOf } from '../client/native.ts'
import { type Task } from '../client/requests.ts'
import { DamagedBodyError } from '../client/retry.ts'
import { failure } from '../errors.ts'
import type { Store } from '../store/store.ts'
import { discard } from '../objects/discard.ts'
import { getObject, type OpenObject } from '../objects/get.ts'
import { checkVersion, explainMiss, stateAt } from './read.ts'
import { verifierFor, type Verifier } from '../objects/verify.ts'

type ByteRange = AdapterOptions.Range

export async function readStream(
  store: Store,
  path: MountPath,
  options: AdapterOptions.Read,
  task: Task,
): Promise<ReadStreamResult> {
  const { range, ifVersion } = options
  if (path === '/') throw failure('EISDIR', task.operation, path)
  const empty = async (): Promise<ReadStreamResult> => {
    const { stat } = await stateAt(store, path, options, task)
    return { stat, stream: nothing() }
  }
  if (range?.length === 0) return empty()
  let opened: OpenObject
  try {
    opened = await store.requests.run(task, (attempt) => getObject(store, store.keys.key(path), attempt, range))
  } catch (error) {
    if (statusOf(error) === 416) return empty()
    throw await explainMiss(store, path, error, task)
  }
  try {
    checkVersion(opened.state, ifVersion, task)
  } catch (error) {
    discard(opened.body)
    throw error
  }
  store.history.noteState(store.keys.key(path), opened.state)
  const stream = new ObjectStream(store, path, range ?? { offset: 0 }, task, opened)
  return { stat: opened.state.stat, stream }
}

async function* nothing(): AsyncGenerator<Uint8Array, undefined> {
  yield* []
}

/** Streams an object. Resumes a broken connection at the same state; a changed object is `ECONFLICT`. Checks all bytes at the end. */
class ObjectStream implements AsyncIterableIterator<Uint8Array> {
  readonly #store: Store
  readonly #task: Task
  readonly #key: string
  readonly #version: string
  readonly #verifier: Verifier | undefined
  #offset: number
  #left: number
  #chunks: AsyncIterator<Uint8Array> | undefined
  #body: OpenObject['body']
  #done = false
  /** One timer for the whole stream: a timer per chunk would cost more than the chunk. */
  #watchdog: NodeJS.Timeout | undefined
  #patience = 0
  #isWaiting = false
  /** The number of consecutive connections without bytes. */
  #fruitless = 0
  readonly #onAbort = (): void => discard(this.#body)

  constructor(store: Store, path: MountPath, range: ByteRange, task: Task, { state, expected, body }: OpenObject) {
    this.#store = store
    this.#task = { ...task, until: undefined }
    this.#key = store.keys.key(path)
    this.#version = state.stat.version
    const whole = range.offset === 0 && range.length === undefined
    this.#verifier = whole ? verifierFor(state, store.dialect) : undefined
    this.#offset = range.offset
    this.#left = expected
    this.#body = body
    task.signal?.addEventListener('abort', this.#onAbort, { once: true })
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (this.#done) return { done: true, value: undefined }
    const { operation, path, signal } = this.#task
    try {
      for (;;) {
        const chunk = this.#left === 0 ? undefined : await this.#chunk()
        if (chunk === undefined) {
          await this.#finish()
          return { done: true, value: undefined }
        }
        this.#verifier?.update(chunk)
        if (chunk.length > 0) return { done: false, value: chunk }
      }
    } catch (error) {
      this.#end()
      throw translate(error, operation, path, signal)
    }
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#end()
    return { done: true, value: undefined }
  }

  async #chunk(): Promise<Uint8Array> {
    const { requests } = this.#store
    const until = requests.begin()
    for (;;) {
      this.#task.signal?.throwIfAborted()
      if (requests.closed) throw failure('ECLOSED', this.#task.operation, this.#task.path)
      try {
        this.#chunks ??= this.#body[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>
        const { done, value } = await this.#watched(this.#chunks.next(), until)
        if (done === true) throw new DamagedBodyError(`${this.#left} bytes did not come`)
        if (value.length > this.#left) throw new DamagedBodyError('more bytes came than were announced')
        this.#fruitless = 0
        this.#offset += value.length
        this.#left -= value.length
        return value
      } catch (error) {
        this.#task.signal?.throwIfAborted()
        this.#fruitless += 1
        if (until.left <= 0) throw new DOMException('the stream took too long', 'TimeoutError')
        if (!isInterruption(error) || this.#fruitless > fruitlessLimit) throw error
        await this.#reopen(until)
      }
    }
  }

  /** Limits the wait for bytes: a stalled body must not block its reader forever. */
  async #watched<Result>(next: Promise<Result>, until: Deadline): Promise<Result> {
    this.#isWaiting = true
    const { attemptTimeout } = this.#store.requests
    const patience = Math.max(1, Math.min(attemptTimeout, until.left))
    if (this.#watchdog === undefined || Math.abs(patience - this.#patience) > tolerance) {
      clearTimeout(this.#watchdog)
      this.#patience = patience
      const give = (): void => {
        if (this.#isWaiting) this.#body.destroy(new DamagedBodyError('nothing comes'))
      }
      this.#watchdog = setTimeout(give, patience).unref() // the connection keeps the process alive
    }
    this.#watchdog.refresh()
    try {
      return await next
    } finally {
      this.#isWaiting = false
    }
  }

  async #reopen(until: Deadline): Promise<void> {
    discard(this.#body)
    this.#chunks = undefined
    const range = { offset: this.#offset, length: this.#left }
    let opened: OpenObject
    try {
      opened = await this.#store.requests.run({ ...this.#task, until }, (attempt) =>
        getObject(this.#store, this.#key, attempt, range),
      )
    } catch (error) {
      if (isMissing(error) || statusOf(error) === 416) throw this.#changed()
      throw error
    }
    if (opened.state.stat.version !== this.#version || opened.expected !== this.#left) {
      discard(opened.body)
      throw this.#changed()
    }
    this.#body = opened.body
  }

  #changed(): WorkspaceError {
    return new WorkspaceError({
      code: 'ECONFLICT',
      operation: this.#task.operation,
      path: this.#task.path,
      reason: 'was changed while it was read, and the connection broke',
      remedy: 'read it again from the start',
    })
  }

  /** Checks the bytes after the last chunk. */
  async #finish(): Promise<void> {
    const { verdict = 'right' } = (await this.#verifier?.verdict()) ?? {}
    this.#end()
    if (verdict === 'right') return
    const { operation, path } = this.#task
    const reason = 'arrived damaged: its checksum differs'
    throw new WorkspaceError({ code: 'EIO', operation, path, reason, remedy: 'read it again' })
  }

  #end(): void {
    this.#done = true
    clearTimeout(this.#watchdog)
    this.#task.signal?.removeEventListener('abort', this.#onAbort)
    discard(this.#body)
  }
}

const fruitlessLimit = 10
/** Allowed deviation of a chunk's time limit, in milliseconds. */
const tolerance = 50

/** True for a failed connection: any error that ends a body early. */
function isInterruption(error: unknown): boolean {
  return error instanceof Error && error.name !== 'WorkspaceError'
}
