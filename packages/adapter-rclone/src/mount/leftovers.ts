import { readdir, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'

import { tempPrefix } from '@ws/adapter-local'

import { DirtyFiles } from '../cache/dirty.ts'
import { repairCache } from '../cache/repair.ts'
import { flushBarrier } from '../flush/barrier.ts'
import type { Place } from '../state/place.ts'
import { type StartOptions, endMount, startMount } from './start.ts'

/** Milliseconds: nobody writes, so nothing is worth waiting for. */
const atOnceMs = 1

/**
 * Uploads what a mount that broke has left in the cache, by a mount of its own that nobody uses. rclone would do so too,
 * a while after it was mounted; until then it does not show files whose directory is not in the store yet. Files under
 * construction, which nobody was told of, are removed.
 *
 * What the store does not take now stays in the cache, and is uploaded later.
 */
export async function uploadLeftovers(start: StartOptions): Promise<void> {
  const { options, place, features, signal } = start
  if (options.readOnly || !(await isUsed(place))) return
  await repairCache(place)
  const cached = join(place.cache, 'vfsMeta')
  if ((await new DirtyFiles(cached).first()) === undefined && (await unfinishedFiles(cached)).length === 0) return
  const running = await startMount({ ...start, options: { ...options, writeBackMs: atOnceMs } })
  const { control, process, fs, metadata } = running
  const dirty = new DirtyFiles(metadata)
  const barrier = { control, log: process.log, dirty, queue: features.queue, timeoutMs: options.startTimeoutMs, signal }
  try {
    await flushBarrier(barrier)
    for (const remote of await unfinishedFiles(metadata)) {
      await control.call('operations/deletefile', { fs, remote }).catch(() => undefined) // it may have come to nothing
      await rm(join(metadata, remote), { force: true })
    }
  } catch {
    signal?.throwIfAborted()
  } finally {
    await endMount(running, place, { lazy: false })
  }
}

/** There is a cache from an earlier time. */
async function isUsed({ cache }: Place): Promise<boolean> {
  return (await readdir(cache).catch((): string[] => [])).length > 0
}

/**
 * Paths below a directory of metadata, by their names. Whoever made them is gone, since the cache is ours alone; some had
 * been uploaded before they were to get their real name.
 */
async function unfinishedFiles(metadata: string): Promise<string[]> {
  const names = await readdir(metadata, { recursive: true }).catch((): string[] => [])
  return names.filter((path) => basename(path).startsWith(tempPrefix))
}
