import type { WriteData } from '@ws/core/adapter'

import { type Task, callsFor } from '../confine/task.ts'
import type { Calls } from '../host/calls.ts'
import { chunkBytes } from '../host/constants.ts'

/** Writes data at a descriptor's position. Resolves to the number of bytes. */
export async function writeBody(task: Task, fd: number, data: WriteData): Promise<number> {
  if (data instanceof Uint8Array) {
    await writeAll(task, callsFor(task, data.length), fd, data)
    return data.length
  }
  let total = 0
  for await (const chunk of data) {
    await writeAll(task, callsFor(task, chunk.length), fd, chunk)
    total += chunk.length
  }
  return total
}

async function writeAll(task: Task, calls: Calls, fd: number, bytes: Uint8Array): Promise<void> {
  let done = 0
  while (done < bytes.length) {
    task.signal?.throwIfAborted()
    done += await calls.write(fd, bytes, done, Math.min(bytes.length - done, 8 * chunkBytes))
  }
}
