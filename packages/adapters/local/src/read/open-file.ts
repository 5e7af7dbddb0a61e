import { setTimeout as delay } from 'node:timers/promises'

import type { Stat } from '@ws/core'
import type { DriverOptions } from '@ws/core/adapter'

import { openData, release } from '../confine/handle.ts'
import { openFile } from '../confine/open.ts'
import { statOf } from '../confine/status.ts'
import { type Task, targetOf } from '../confine/task.ts'
import { type Where, contractFailure, nativeCode } from '../errors.ts'
import { reading } from '../host/constants.ts'

export interface OpenedFile {
  /** A descriptor for reading. The caller closes it. */
  readonly fd: number
  readonly stat: Stat
  /** The range of bytes to read: from `start` to before `end`. */
  readonly start: number
  readonly end: number
}

export async function openToRead(task: Task, { range, ifVersion }: DriverOptions.Read): Promise<OpenedFile> {
  const { handle, status } = await openFile(task, targetOf(task, task.path))
  try {
    // The status is read before the data. If the file changes in between, a later condition on the version fails, and no change is lost.
    const stat = statOf(status)
    if (ifVersion !== undefined && ifVersion !== stat.version) throw staleRead(task)
    const start = Math.min(range?.offset ?? 0, stat.size)
    const end = Math.min(start + (range?.length ?? Number.POSITIVE_INFINITY), stat.size)
    return { fd: await openWithPatience(task, () => openData(task, handle, reading)), stat, start, end }
  } finally {
    await release(task, handle)
  }
}

/** Milliseconds between attempts while another process gives up its lease. */
const leaseDelays = [1, 5, 20, 50, 100]

/** Opens a file, and retries a few times: with O_NONBLOCK, an open fails if it would wait for a lease. */
export async function openWithPatience(task: Task, open: () => Promise<number>): Promise<number> {
  for (const ms of task.isPatient === false ? [] : leaseDelays) {
    try {
      return await open()
    } catch (error) {
      if (nativeCode(error) !== 'EAGAIN') throw error
    }
    await delay(ms, undefined, { signal: task.signal })
  }
  return await open()
}

function staleRead(where: Where): Error {
  return contractFailure(where, 'ECONFLICT')
}
