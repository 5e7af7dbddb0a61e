import type { WriteData } from '@ws/core/adapter'

import { type Task, callsFor } from '../confine/task.ts'
import { BodyFailure, failure } from '../errors.ts'
import type { Calls } from '../host/calls.ts'
import { chunkBytes } from '../host/constants.ts'

/** Writes a body at a descriptor's position. Resolves to its bytes. */
export async function writeBody(task: Task, fd: number, data: WriteData): Promise<number> {
  if (data instanceof Uint8Array) {
    await writeAll(task, callsFor(task, data.length), fd, data)
    return data.length
  }
  return await writeStream(task, fd, data)
}

async function writeStream(task: Task, fd: number, data: AsyncIterable<Uint8Array>): Promise<number> {
  const iterator = data[Symbol.asyncIterator]()
  let total = 0
  let ended = false
  try {
    for (;;) {
      const result = await nextChunk(task, iterator)
      if (result.done === true) {
        ended = true
        return total
      }
      const chunk: unknown = result.value
      if (!(chunk instanceof Uint8Array)) {
        throw failure(task, 'EINVAL', 'cannot be written: the stream must give Uint8Array chunks', {
          remedy: 'encode text with TextEncoder first',
        })
      }
      await writeAll(task, callsFor(task, chunk.length), fd, chunk)
      total += chunk.length
    }
  } finally {
    // not awaited: a generator that hangs in a pending `next` never answers
    if (!ended) iterator.return?.().then(undefined, () => undefined)
  }
}

async function nextChunk({ signal }: Task, iterator: AsyncIterator<Uint8Array>): Promise<IteratorResult<Uint8Array>> {
  signal?.throwIfAborted()
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const onAbort = (): void => reject(signal?.reason)
  signal?.addEventListener('abort', onAbort, { once: true }) // before `next`, in which it may happen
  try {
    return await Promise.race([ask(iterator), aborted])
  } finally {
    signal?.removeEventListener('abort', onAbort)
  }
}

async function ask(iterator: AsyncIterator<Uint8Array>): Promise<IteratorResult<Uint8Array>> {
  try {
    return await iterator.next()
  } catch (error) {
    throw new BodyFailure(error)
  }
}

async function writeAll(task: Task, calls: Calls, fd: number, bytes: Uint8Array): Promise<void> {
  let done = 0
  while (done < bytes.length) {
    task.signal?.throwIfAborted()
    done += await calls.write(fd, bytes, done, Math.min(bytes.length - done, 8 * chunkBytes))
  }
}
