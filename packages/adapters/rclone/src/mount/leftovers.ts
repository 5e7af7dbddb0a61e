import { readdir, rm } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'

import { isGone, ownMark, tempPrefix } from '@ws/adapter-local/internal'

import { DirtyFiles } from '../cache/dirty.ts'
import { isThere, unlessMissing } from '../cache/disk.ts'
import { StaleNames } from '../cache/stale-names.ts'
import { repairCache } from '../cache/repair.ts'
import { deleteStored } from '../cache/stored.ts'
import { flushBarrier } from './barrier.ts'
import type { MountDirectories } from '../state/directories.ts'
import { settleStaleNames } from './settle-stale-names.ts'
import { type RunningMount, type StartOptions, endMount, startMount } from './start.ts'

/** Milliseconds of write-back delay. No program writes to this mount, so no delay is needed. */
const atOnceMs = 1

/**
 * Uploads the files that a broken mount has left in the cache, through a temporary mount without users. rclone would do that too,
 * but a while after the mount. Until then, rclone hides files whose directory is not in the store yet. Files under
 * construction, which no caller knows, are removed.
 *
 * A file that the store does not accept now remains in the cache for a later upload.
 */
export async function uploadLeftovers(start: StartOptions): Promise<void> {
  const { options, place, features } = start
  if (options.readOnly || !(await isUsed(place))) return
  await repairCache(place)
  const cached = join(place.cache, 'vfsMeta')
  // read before the uploads, which begin with the mount
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
      await deleteStored(control, { fs, remote }, signal)
      await rm(join(metadata, remote), { force: true })
    }
  } catch {
    // a store that does not answer does not prevent the mount; a cache that cannot be read is refused at its start
    start.signal?.throwIfAborted()
  } finally {
    await endMount(running, place, { lazy: false })
  }
}

/** True if a cache exists from an earlier mount. */
async function isUsed({ cache }: MountDirectories): Promise<boolean> {
  return ((await readdir(cache).catch(unlessMissing)) ?? []).length > 0
}

/**
 * Paths of files under construction below a metadata directory, recognized by name. The cache has no other user, so their makers have
 * ended. Some files were uploaded before their rename.
 */
async function unfinishedFiles(metadata: string): Promise<string[]> {
  const names = await readdir(metadata, { recursive: true }).catch(unlessMissing)
  return (names ?? []).filter((path) => basename(path).startsWith(tempPrefix))
}

/** Host paths of metadata directories below `cached` that contain files without an upload. */
async function directoriesOf(cached: string): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  for await (const path of new DirtyFiles(cached).all()) found.add(dirname(join(cached, path)))
  return found
}

/**
 * Removes the store's objects of files under construction that belong to this cache. If such a file was renamed during its upload,
 * the upload was cancelled, but the store may have accepted it. Files of other caches remain.
 */
async function removeUnfinished(
  { control, fs, metadata }: RunningMount,
  remote: string,
  signal: AbortSignal | undefined,
) {
  const opt = { noModTime: true, noMimeType: true, filesOnly: true }
  const { list } = await control.call('operations/list', { fs, remote, opt }, { signal, timeout: listMs })
  for (const { Path } of Array.isArray(list) ? (list as readonly { readonly Path?: string }[]) : []) {
    if (Path === undefined || !isLost(basename(Path)) || isThere(join(metadata, Path))) continue
    await deleteStored(control, { fs, remote: Path }, signal)
  }
}

/** True if this process or an ended process made the file. */
function isLost(name: string): boolean {
  if (!name.startsWith(tempPrefix)) return false
  const mark = name.slice(tempPrefix.length)
  return mark.startsWith(`${ownMark()}-`) || isGone(mark) === true
}

/** Milliseconds to list one directory. */
const listMs = 30_000
