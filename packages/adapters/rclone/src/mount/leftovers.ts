import { existsSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'

import { isGone, ownMark, tempPrefix } from '@ws/adapter-local/internal'

import { DirtyFiles } from '../cache/dirty.ts'
import { StaleNames } from '../cache/stale-names.ts'
import { repairCache } from '../cache/repair.ts'
import { deleteStored } from '../cache/stored.ts'
import { flushBarrier } from './barrier.ts'
import type { MountDirectories } from '../state/directories.ts'
import { settleStaleNames } from './settle-stale-names.ts'
import { type RunningMount, type StartOptions, endMount, startMount } from './start.ts'

/** Milliseconds: nothing writes to this mount, so nothing is worth waiting for. */
const atOnceMs = 1

/**
 * Uploads what a mount that broke has left in the cache, by a mount of its own that has no users. rclone would do so
 * too, a while after it was mounted; until then it does not show files whose directory is not in the store yet. Files
 * under construction, which no caller knows of, are removed.
 *
 * A file that the store does not take now stays in the cache, and is uploaded later.
 */
export async function uploadLeftovers(start: StartOptions): Promise<void> {
  const { options, place, features } = start
  if (options.readOnly || !(await isUsed(place))) return
  await repairCache(place)
  const cached = join(place.cache, 'vfsMeta')
  // before the uploads, which begin with the mount
  const directories = await directoriesOf(cached)
  const isClean = directories.size === 0 && new StaleNames(place.cache, options.timeouts.writeBack).isEmpty
  if (isClean && (await unfinishedFiles(cached)).length === 0) return
  const running = await startMount({
    ...start,
    options: { ...options, timeouts: { ...options.timeouts, writeBack: atOnceMs } },
  })
  const { control, process, fs, metadata, dirty } = running
  const { queue } = features
  const timeout = options.timeouts.start
  const limit = AbortSignal.timeout(timeout)
  const signal = start.signal === undefined ? limit : AbortSignal.any([start.signal, limit])
  try {
    await flushBarrier({ control, log: process.log, dirty, dirtyInMount: dirty, queue, timeout, signal })
    await settleStaleNames(running, signal)
    for (const directory of directories) await removeUnfinished(running, relative(metadata, directory), signal)
    for (const remote of await unfinishedFiles(metadata)) {
      // it may have come to nothing
      await control.call('operations/deletefile', { fs, remote }, { signal }).catch(() => undefined)
      await rm(join(metadata, remote), { force: true })
    }
  } catch {
    start.signal?.throwIfAborted()
  } finally {
    await endMount(running, place, { lazy: false })
  }
}

/** There is a cache from an earlier time. */
async function isUsed({ cache }: MountDirectories): Promise<boolean> {
  return (await readdir(cache).catch((): string[] => [])).length > 0
}

/**
 * Paths below a directory of metadata, by their names. Their makers are gone, since the cache is ours alone; some had
 * been uploaded before they were to get their real name.
 */
async function unfinishedFiles(metadata: string): Promise<string[]> {
  const names = await readdir(metadata, { recursive: true }).catch((): string[] => [])
  return names.filter((path) => basename(path).startsWith(tempPrefix))
}

/** Host paths of the directories of metadata below `cached` with something that is not in the store yet. */
async function directoriesOf(cached: string): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  for await (const path of new DirtyFiles(cached).all()) found.add(dirname(join(cached, path)))
  return found
}

/**
 * Removes the store's objects of files under construction of this very cache. If such a file was renamed during its
 * upload, the upload was called off, and the store may have taken it all the same. Files of other caches stay.
 */
async function removeUnfinished(
  { control, fs, metadata }: RunningMount,
  remote: string,
  signal: AbortSignal | undefined,
) {
  const opt = { noModTime: true, noMimeType: true, filesOnly: true }
  const { list } = await control.call('operations/list', { fs, remote, opt }, { signal, timeout: listMs })
  for (const { Path } of Array.isArray(list) ? (list as readonly { readonly Path?: string }[]) : []) {
    if (Path === undefined || !isLost(basename(Path)) || existsSync(join(metadata, Path))) continue
    await deleteStored(control, { fs, remote: Path }, signal)
  }
}

/** True if a process that is dead, or this process, made the file. */
function isLost(name: string): boolean {
  if (!name.startsWith(tempPrefix)) return false
  const mark = name.slice(tempPrefix.length)
  return mark.startsWith(`${ownMark()}-`) || isGone(mark) === true
}

/** Milliseconds for one directory. */
const listMs = 30_000
