import type { ReadStreamResult, AdapterOptions } from '@ws/core/adapter'

import { type Task, callsFor } from '../confine/task.ts'
import { translate } from '../errors.ts'
import { chunkBytes } from '../host/constants.ts'
import type { Held, Resources } from '../resources.ts'
import { type OpenedFile, openToRead } from './open-file.ts'

export async function readFileStream(
  task: Task,
  options: AdapterOptions.Read,
  resources: Resources,
  bytesOfChunk: number = chunkBytes,
): Promise<ReadStreamResult> {
  const file = await openToRead(task, options)
  return { stat: file.stat, stream: new FileStream(task, file, resources, bytesOfChunk) }
}

class FileStream implements AsyncIterableIterator<Uint8Array>, Held {
  readonly #task: Task
  readonly #resources: Resources
  readonly #file: OpenedFile
  readonly #bytesOfChunk: number
  #position: number
  #open = true
  #abandoned: Error | undefined
  #last: Promise<unknown> = Promise.resolve()

  constructor(task: Task, file: OpenedFile, resources: Resources, bytesOfChunk: number) {
    this.#bytesOfChunk = bytesOfChunk
    this.#task = task
    this.#file = file
    this.#position = file.start
    this.#resources = resources
    resources.hold(this)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    return this.#inTurn(() => this.#read())
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    return await this.#inTurn(async () => {
      await this.#close()
      return { done: true, value: undefined }
    })
  }

  async abandon(reason: Error): Promise<void> {
    this.#abandoned = reason
    await this.return()
  }

  /** Runs pool calls one after another. Closing must wait for a read: the descriptor's number could belong to another file. */
  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const run = this.#last.then(work)
    this.#last = run.catch(() => undefined)
    return run
  }

  async #read(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (this.#abandoned !== undefined) throw this.#abandoned
    if (!this.#open) return { done: true, value: undefined }
    try {
      const wanted = Math.min(this.#bytesOfChunk, this.#file.end - this.#position)
      const chunk = new Uint8Array(wanted)
      const calls = callsFor(this.#task, wanted)
      const count = wanted === 0 ? 0 : await calls.read(this.#file.fd, chunk, 0, wanted, this.#position)
      this.#position += count
      if (count > 0) return { done: false, value: count === wanted ? chunk : chunk.subarray(0, count) }
    } catch (error) {
      await this.#close()
      throw translate(error, this.#task)
    }
    await this.#close()
    return { done: true, value: undefined }
  }

  async #close(): Promise<void> {
    if (!this.#open) return
    this.#open = false
    this.#resources.release(this)
    await this.#task.calls.close(this.#file.fd)
  }
}
