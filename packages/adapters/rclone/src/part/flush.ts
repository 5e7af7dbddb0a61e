import { isWorkspaceError } from '@ws/core'
import type { SignalOption } from '@ws/core/adapter'

import { settleUploads } from './call-off.ts'
import type { Task } from '../mount/pending.ts'
import type { Open } from './opened.ts'
import type { MountedPart } from './mounted-part.ts'
import { flushBarrier, late } from '../mount/barrier.ts'

export interface FlushOptions extends SignalOption {
  /** Milliseconds. Default: the mount's `timeouts.flush`. */
  readonly timeout?: number | undefined
}

/** Milliseconds by which a flush may end later than its limit. */
const lateMs = 150

/** Resolves when everything of a part is in the store. */
export async function flushPart(
  part: MountedPart,
  open: Open,
  call: Task,
  timeout = part.mount.options.timeouts.flush,
): Promise<void> {
  const { running, dirty } = open
  const { control, process, dirty: dirtyInMount, staleNames } = running
  const { features } = part.mount
  const { operation, path } = call
  // The barrier has its own limit, and its error gives a better reason.
  const limit = AbortSignal.timeout(timeout + lateMs)
  const signal = call.signal === undefined ? limit : AbortSignal.any([call.signal, limit])
  const flushing = async (): Promise<void> => {
    await flushBarrier({
      ...{ control, log: process.log, dirty, dirtyInMount, signal, timeout, operation },
      queue: features.queue,
      onHurry: () => staleNames.noteHurry(),
    })
    await settleUploads(open, signal)
  }
  try {
    await part.track({ operation, path, signal }, flushing, { hasOwnLimit: true })
  } catch (error) {
    call.signal?.throwIfAborted()
    throw limit.aborted && !isWorkspaceError(error) ? late(process.log, operation) : error
  }
}
