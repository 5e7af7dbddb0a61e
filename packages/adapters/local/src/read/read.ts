import type { ReadResult, Stat } from '@ws/core'
import { checkReadSize, type MountPath, type AdapterOptions } from '@ws/core/adapter'

import { release, statusOf } from '../confine/handle.ts'
import { openEntry } from '../confine/open.ts'
import { isReserved } from '../confine/hidden.ts'
import { statOf } from '../confine/status.ts'
import { callsFor, targetOf, type Task } from '../confine/task.ts'
import type { Tree } from '../confine/tree.ts'
import { contractFailure } from '../errors.ts'
import { type Calls, type ImmediateCalls, isImmediate, type PlainCalls, type Status } from '../host/calls.ts'
import { anyEntry, chunkBytes, reading, smallBytes } from '../host/constants.ts'
import { pathOfDescriptor } from '../host/calls.ts'
import { openToRead } from './open-file.ts'

/** The status of an entry without waiting. If it is `undefined`, use the thorough way, which makes the same checks. */
export function statusAtOnce(tree: Tree, calls: ImmediateCalls, path: MountPath): Status | undefined {
  return calls.together((plain) => withEntry(tree, plain, path, (_fd, status) => status))
}

export interface SmallFile {
  readonly bytes: Uint8Array
  readonly status: Status
}

/** The whole content of a small regular file; `undefined` for other entries, or if the thorough way is needed. */
export function fileAtOnce(tree: Tree, calls: ImmediateCalls, path: MountPath): SmallFile | undefined {
  return calls.together((plain) => withEntry(tree, plain, path, (entry, status) => readWhole(plain, entry, status)))
}

function readWhole(calls: PlainCalls, entry: number, status: Status): SmallFile | undefined {
  if (!status.isFile() || status.size > smallBytes || isReserved(status, pathOfDescriptor(entry))) return undefined
  // the first open did not open the data; the verified file is opened for its data now
  const fd = calls.open(pathOfDescriptor(entry), reading)
  try {
    const bytes = new Uint8Array(Number(status.size))
    const count = bytes.length === 0 ? 0 : calls.read(fd, bytes, 0, bytes.length, 0)
    return count === bytes.length ? { bytes, status } : undefined
  } finally {
    calls.close(fd)
  }
}

function withEntry<Result>(
  tree: Tree,
  calls: PlainCalls,
  path: MountPath,
  work: (fd: number, status: Status) => Result | undefined,
): Result | undefined {
  const shortcut = tree.verified ? tree.shortcut(path) : undefined
  if (shortcut === undefined) return undefined
  let fd = -1
  try {
    fd = calls.open(shortcut, anyEntry)
    return tree.isAt(fd, path) ? work(fd, calls.fstat(fd)) : undefined
  } catch {
    return undefined // the thorough way meets the error again
  } finally {
    if (fd >= 0) calls.close(fd)
  }
}

/** Bytes of a pool call for a whole file: large enough for few calls, small enough for a quick abort. */
const largeChunkBytes = 8 * chunkBytes

/** Limit of bytes in one array on every platform. */
const largestRead = 2 ** 31 - 1

export async function readFile(task: Task, options: AdapterOptions.Read): Promise<ReadResult> {
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
