import type { ReadResult, Stat } from '@ws/core'
import { checkReadSize, type ReadOptions } from '@ws/core/adapter'

import { statOf } from '../confine/status.ts'
import { type Task, callsFor, targetOf } from '../confine/task.ts'
import { type Calls, isImmediate } from '../host/calls.ts'
import { chunkBytes, smallBytes } from '../host/constants.ts'
import { fileAtOnce, statusAtOnce } from './at-once.ts'
import { openToRead } from './open-file.ts'
import { release, statusOf } from '../confine/handle.ts'
import { openEntry } from '../confine/open.ts'
import { isReserved } from '../confine/reserved.ts'
import { contractFailure } from '../errors.ts'

/** Bytes of one call on the pool when a whole file is wanted: few calls, and an abort is seen soon. */
const largeChunkBytes = 8 * chunkBytes

/** Bytes that one array can hold on every platform. */
const largestRead = 2 ** 31 - 1

export async function readFile(task: Task, options: ReadOptions): Promise<ReadResult> {
  const whole = options.range === undefined && options.ifVersion === undefined
  if (whole && (options.maxBytes ?? smallBytes) >= smallBytes && isImmediate(task.calls)) {
    const file = fileAtOnce(task.tree, task.calls, task.path)
    if (file !== undefined) return { bytes: file.bytes, stat: statOf(file.status) }
  }
  const { fd, stat, start, end } = await openToRead(task, options)
  try {
    checkReadSize(task.operation, task.path, end - start, Math.min(options.maxBytes ?? largestRead, largestRead))
    const bytes = await readRange(task, callsFor(task, end - start), fd, start, end)
    return { bytes, stat }
  } finally {
    await task.calls.close(fd)
  }
}

async function readRange(task: Task, calls: Calls, fd: number, start: number, end: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(end - start)
  let filled = 0
  while (filled < bytes.length) {
    const wanted = Math.min(bytes.length - filled, largeChunkBytes)
    const count = await calls.read(fd, bytes, filled, wanted, start + filled)
    if (count === 0) return bytes.slice(0, filled) // it has become shorter
    filled += count
    task.signal?.throwIfAborted()
  }
  return bytes
}

export async function statEntry(task: Task): Promise<Stat> {
  const atOnce = isImmediate(task.calls) ? statusAtOnce(task.tree, task.calls, task.path) : undefined
  if (atOnce !== undefined && !isReserved(atOnce, task.tree.hostPath(task.path))) return statOf(atOnce)
  const handle = await openEntry(task, targetOf(task, task.path))
  try {
    const status = await statusOf(task, handle)
    if (isReserved(status, handle.self)) throw contractFailure(task, 'ENOENT')
    return statOf(status)
  } finally {
    await release(task, handle)
  }
}
