import { setTimeout as delay } from 'node:timers/promises'

import type { MountPath } from '@ws/core/adapter'

import type { Control } from '../control/client.ts'
import { readStats } from '../control/stats.ts'
import { diagnose, failure } from '../errors.ts'
import type { MountLog } from './log.ts'
import type { DirtyFiles } from '../cache/dirty.ts'

/** Milliseconds that a closed file may be dirty without a queued upload, since rclone notices the close later. */
const openGraceMs = 2_000
/** Milliseconds between two scans; the end of an upload triggers a scan at once. */
const lookEveryMs = 100

export interface BarrierOptions {
  readonly control: Control
  readonly log: MountLog
  /** The dirty files of this part of the mount. */
  readonly dirty: DirtyFiles
  readonly dirtyInMount: DirtyFiles
  /** The operation that errors name. Default `flush`. */
  readonly operation?: string | undefined
  /** rclone has `vfs/queue-set-expiry`. */
  readonly queue: boolean
  /** Called before waiting uploads start without their delay. */
  readonly onHurry?: (() => void) | undefined
  readonly timeout: number
  readonly signal: AbortSignal | undefined
}

/**
 * Resolves when every change that was acknowledged before the call is in the store. The notes of the files in rclone's cache prove that:
 * a file that was just closed is in no queue yet. The queue must also contain no upload without such a note. If a reader opened a file
 * before its replacement and closes it now, rclone notes the older state.
 *
 * @throws WorkspaceError `EBUSY` for a file that a program has open for writing, `EBACKEND` and others for errors of
 * the store, `ETIMEDOUT`.
 */
export async function flushBarrier(options: BarrierOptions): Promise<void> {
  const { control, dirty, queue, timeout, signal, operation = 'flush' } = options
  const start = performance.now()
  const deadline = start + timeout
  let unqueuedSince: number | undefined
  for (;;) {
    signal?.throwIfAborted()
    const path = await dirty.first()
    // A second scan, because a file renamed meanwhile may have moved from an unread directory to a directory already read.
    const isClean = path === undefined && (await dirty.first()) === undefined
    const { queued, uploading } = await readStats(control, { signal })
    const waiting = queued + uploading
    if (isClean && (waiting === 0 || (await options.dirtyInMount.areAtLeast(waiting)))) return
    const now = performance.now()
    unqueuedSince = waiting > 0 ? undefined : (unqueuedSince ?? now)
    if (path !== undefined && unqueuedSince !== undefined && now - unqueuedSince > openGraceMs)
      throw stillOpen(path, operation)
    if (now > deadline || (now - start > openGraceMs && isRefused(options.log))) throw late(options.log, operation)
    if (queue && queued > 0) {
      options.onHurry?.()
      await hurry(control)
    }
    await nextUpload(options.log, Math.min(lookEveryMs, Math.max(deadline - now, 1)), signal)
  }
}

/** Resolves when no upload is running, or when the time is over. */
export async function uploadsEnded(control: Control, ms: number): Promise<void> {
  const deadline = performance.now() + ms
  while ((await readStats(control)).uploading > 0 && performance.now() < deadline) await delay(5)
}

async function nextUpload(log: MountLog, ms: number, signal: AbortSignal | undefined): Promise<void> {
  const uploaded = new AbortController()
  const stop = log.onUpload(() => uploaded.abort())
  try {
    await delay(ms, undefined, {
      signal: signal === undefined ? uploaded.signal : AbortSignal.any([signal, uploaded.signal]),
    })
  } catch {
    signal?.throwIfAborted() // else an upload has ended
  } finally {
    stop()
  }
}

/** Starts all waiting uploads now. Older versions of rclone cannot, so uploads wait. */
async function hurry(control: Control): Promise<void> {
  const { queue } = await control.call('vfs/queue')
  for (const item of Array.isArray(queue) ? (queue as readonly unknown[]) : []) {
    const { id, uploading, expiry } = item as { id?: number; uploading?: boolean; expiry?: number }
    if (id === undefined || uploading === true || (expiry ?? 0) <= 0) continue
    await control.call('vfs/queue-set-expiry', { id, expiry: 0 }).catch(() => undefined) // the upload may have ended by now
  }
}

function stillOpen(path: string, operation: string): Error {
  return failure('EBUSY', 'is open for writing, and is uploaded when it is closed', {
    operation,
    path: path as MountPath,
    remedy: 'end the command that writes it, or close it, then flush again',
  })
}

/** True if the store refuses an upload, and will refuse it again. */
function isRefused({ failing }: MountLog): boolean {
  for (const [name, said] of failing) if (isNoText(name) || diagnose(said).lasting === true) return true
  return false
}

/** True if a name contains the character that rclone's JSON messages use for bytes that are not UTF-8. */
function isNoText(name: string): boolean {
  return name.includes('\ufffd')
}

/** The reason why uploads have not ended in time, if rclone has reported one. */
export function late(log: MountLog, operation: string): Error {
  const [said] = log.failing.values()
  if (said === undefined) {
    const remedy =
      'flush again, or give it more time (`timeouts.flush`); files that are not uploaded yet stay in the cache'
    return failure('ETIMEDOUT', 'the uploads took too long', { operation, remedy })
  }
  const native = new Error(said)
  if ([...log.failing.keys()].some(isNoText)) {
    const reason = 'a file is not uploaded, since its name is not UTF-8: keys of a store are text'
    const remedy = 'rename it by a command (`ls -b` shows the bytes of names), then flush again'
    return failure('EBACKEND', reason, { operation, remedy, native })
  }
  const { code, reason, remedy } = diagnose(said)
  const kept = `${remedy}; files that are not uploaded yet stay in the cache, and are tried again`
  return failure(code, `nothing can be uploaded: ${reason}`, {
    operation,
    remedy: kept,
    native,
  })
}
