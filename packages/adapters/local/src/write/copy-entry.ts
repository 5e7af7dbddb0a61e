import { constants } from 'node:fs'

import type { MountPath, AdapterOptions } from '@ws/core/adapter'

import { type Handle, openData, statusOf } from '../confine/handle.ts'
import { notAFile } from '../confine/open.ts'
import { permissionsOf, versionOf } from '../confine/status.ts'
import { type Target, type Task, callsFor, targetOf } from '../confine/task.ts'
import { contractFailure, nativeCode } from '../errors.ts'
import type { HostName, Status } from '../host/calls.ts'
import { pathOfDescriptor } from '../host/calls.ts'
import { chunkBytes, reading, smallBytes } from '../host/constants.ts'
import { under } from '../host/name.ts'
import { openWithPatience } from '../read/open-file.ts'
import { type Placing, putInPlace, withFreshFile } from './fresh-file.ts'
import { creationStart, giveNew } from './give.ts'
import { withLocks } from './locks.ts'
import { checkCondition, conflict, lookAt } from './target.ts'
import { newTempName } from '../confine/temp.ts'

export interface CopiedEntry {
  readonly source: {
    readonly parent: Handle
    readonly name: HostName
    readonly handle: Handle
    readonly status: Status
    readonly path: MountPath
  }
  readonly destination: {
    readonly parent: Handle
    readonly name: HostName
    readonly path: MountPath
    /** The entry at the destination, which is replaced or merged into. */
    readonly found: Status | undefined
  }
  readonly options: AdapterOptions.Copy
}

/** Size from which a file is copied in chunks: a copy in one call cannot be aborted. */
const oneCallBytes = 67_108_864n

export async function copyRegularFile(task: Task, entry: CopiedEntry): Promise<void> {
  const { source, destination, options } = entry
  const replaces = destination.found?.isFile() === true ? destination.found : undefined
  const fresh = { replaces, mode: permissionsOf(source.status) }
  await withFreshFile(task, destination.parent, fresh, async (file) => {
    await copyData(task, source, file.fd)
    await atDestination(task, entry, async (how) => {
      if (options.ifSource !== undefined && versionOf(await statusOf(task, source.handle)) !== options.ifSource) {
        throw conflict(targetOf(task, source.path, 'source'))
      }
      await putInPlace(task, file, destination.name, how)
    })
  })
}

export async function copyLink(task: Task, entry: CopiedEntry): Promise<void> {
  const { source, destination } = entry
  const linkTarget = await task.calls.readlink(under(source.parent.self, source.name))
  const start = creationStart()
  await atDestination(task, entry, async (how) => {
    const name = how === 'create' ? destination.name : newTempName()
    const path = under(destination.parent.self, name)
    await task.calls.symlink(linkTarget, path)
    await giveNew(task, destination.parent, name, start, 'symlink')
    if (how === 'create') return
    try {
      await task.calls.rename(path, under(destination.parent.self, destination.name))
    } catch (error) {
      await task.calls.unlink(path)
      throw error
    }
  })
}

/** Runs the last step under the destination's lock, after checking its condition again. */
async function atDestination(
  task: Task,
  { destination, options }: CopiedEntry,
  work: (how: Placing) => Promise<void>,
): Promise<void> {
  await withLocks([task.tree.hostPath(destination.path)], async () => {
    task.signal?.throwIfAborted()
    if (options.ifDestination !== undefined) {
      const now = await lookAt(task, destination.parent, destination.name)
      checkCondition(targetOf(task, destination.path, 'destination'), options.ifDestination, now)
    }
    if (options.overwrite !== true) await work('create')
    else await work(destination.found === undefined ? 'new' : 'replace')
  })
}

async function copyData(task: Task, { handle, status }: CopiedEntry['source'], to: number): Promise<void> {
  const bits = Number(status.mode) & 0o7777
  // The system's copy call would wait for a lease. While this file is open, no process gets a lease.
  const from = await openWithPatience(task, () => openData(task, handle, reading))
  try {
    // The system's copy call would keep setuid and setgid bits, and share blocks.
    if (bits === permissionsOf(status)) await copyBytes(task, from, to, status)
    else await copyInChunks(task, from, to, status)
  } finally {
    await task.calls.close(from)
  }
}

/** Copies an open file's bytes into a new file, which may get the setuid and setgid bits. Shares blocks where the file system can. */
export async function copyBytes(task: Task, from: number, to: number, status: Status): Promise<void> {
  if (task.tree.verified && status.size > smallBytes) {
    if (await copyInKernel(task, pathOfDescriptor(from), status, pathOfDescriptor(to))) return
  }
  await copyInChunks(task, from, to, status)
}

/** Bytes of the blocks that a file's status counts. */
const blockBytes = 512n

/** Whether a file has holes. */
function isSparse({ size, blocks }: Status): boolean {
  return blocks * blockBytes < size
}

async function copyInKernel({ pooled }: Task, from: string, status: Status, to: string): Promise<boolean> {
  if (status.size <= oneCallBytes && !isSparse(status)) {
    await pooled.copyFile(from, to, constants.COPYFILE_FICLONE)
    return true
  }
  try {
    await pooled.copyFile(from, to, constants.COPYFILE_FICLONE_FORCE) // shares blocks, or fails at once
    return true
  } catch (error) {
    if (nativeCode(error) === 'ENOSPC') throw error
    return false
  }
}

const zeros = Buffer.alloc(chunkBytes)

async function copyInChunks(task: Task, from: number, to: number, status: Status): Promise<void> {
  const calls = callsFor(task, status.size)
  const sparse = isSparse(status)
  const buffer = Buffer.alloc(Number(status.size < chunkBytes ? status.size + 1n : chunkBytes))
  for (let position = 0; ; ) {
    task.signal?.throwIfAborted()
    const count = await calls.read(from, buffer, 0, buffer.length, position)
    if (count === 0) {
      if (sparse) await calls.ftruncate(to, position) // a hole at the end
      return
    }
    const isHole = sparse && buffer.compare(zeros, 0, count, 0, count) === 0
    for (let written = isHole ? count : 0; written < count; )
      written += await calls.write(to, buffer, written, count - written, position + written)
    position += count
  }
}

/** A directory can replace only a directory; a file or link can replace only a file or link. */
export function checkReplaceable(destination: Target, status: Status, found: Status): void {
  if (status.isDirectory() && !found.isDirectory()) {
    throw contractFailure(destination, 'fileInTheWay')
  }
  if (!status.isDirectory() && found.isDirectory()) {
    throw contractFailure(destination, 'directoryInTheWay')
  }
  if (!found.isDirectory() && !found.isFile() && !found.isSymbolicLink()) throw notAFile(destination)
}
