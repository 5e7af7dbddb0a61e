import { join } from 'node:path'

import { DirtyFiles } from '../cache/dirty.ts'
import { flushBarrier } from '../flush/barrier.ts'
import { type StartOptions, endMount, startMount } from './start.ts'

/** Milliseconds: nobody writes, so nothing is worth waiting for. */
const atOnceMs = 1

/**
 * Uploads what a mount that broke has left in the cache, by a mount of its own that nobody uses. rclone would do so too,
 * a while after it was mounted; until then it does not show files whose directory is not in the store yet.
 *
 * What the store does not take now stays in the cache, and is uploaded later.
 */
export async function uploadLeftovers(start: StartOptions): Promise<void> {
  const { options, place, features, signal } = start
  if (options.readOnly) return
  const dirty = new DirtyFiles(join(place.cache, 'vfsMeta'))
  if ((await dirty.first()) === undefined) return
  const running = await startMount({ ...start, options: { ...options, writeBackMs: atOnceMs } })
  const { control, process } = running
  const barrier = { control, log: process.log, dirty, queue: features.queue, timeoutMs: options.startTimeoutMs, signal }
  try {
    await flushBarrier(barrier)
  } catch {
    signal?.throwIfAborted()
  } finally {
    await endMount(running, place, { lazy: false })
  }
}
