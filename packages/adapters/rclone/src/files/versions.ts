import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import { factsOfVersion, versionFrom } from '@ws/adapter-local/internal'
import { type FileType, type Version, isWorkspaceError } from '@ws/core'
import { type Condition, fileTimes, type MountPath, type StorageAdapter, contractError } from '@ws/core/adapter'

import { type CachedFile, hashInNote, lookAtCachedFile, readCachedFile } from '../cache/cached-file.ts'
import { hashInStore } from '../control/hash.ts'
import type { RunningMount } from '../mount/start.ts'

type CachedNow = ReturnType<typeof lookAtCachedFile>

/**
 * Computes a state's version from size and time alone, because rclone's inode numbers follow names, and each mount is a new device.
 * The time comes from the cache. For up to a second, the kernel reports an earlier time, and two reads of one content would then return
 * two versions. Times of the store are whole milliseconds, and remain unchanged.
 *
 * `metadata`: host path of the cache's note about the file. `before`: the note before the content was read, which must
 * equal the present note.
 */
export async function settled<State extends { readonly type: FileType; readonly version?: Version | undefined }>(
  metadata: string,
  state: State,
  ...before: readonly [] | readonly [CachedNow]
): Promise<State> {
  const seen = state.version === undefined ? undefined : factsOfVersion(state.version)
  if (seen === undefined) return state
  const { size } = seen
  const mtimeNs = state.type === 'file' ? await timeInCache(metadata, seen, before) : undefined
  if (mtimeNs === undefined) return { ...state, version: versionFrom(seen, await timeOfContent(metadata, state, seen)) }
  const modifiedAt = fileTimes.dateable(Number(mtimeNs / 1_000n) / 1_000)
  return { ...state, modifiedAt, version: versionFrom({ size, mtimeNs }) }
}

type Facts = NonNullable<ReturnType<typeof factsOfVersion>>

/** The cache's time of the write, if `seen` has the store's time. Versions need it, since the store may have only seconds. */
async function timeOfContent(metadata: string, { type }: { readonly type: FileType }, seen: Facts) {
  if (type !== 'file' || seen.mtimeNs % nsPerMs !== 0n) return undefined
  const cached = await whatIsKnown(metadata)
  if (cached === undefined || BigInt(cached.size) !== seen.size || cached.mtimeNs % nsPerMs === 0n) return undefined
  return cached.mtimeNs
}

/** The cache's time for the seen state; `undefined` if the cache has another state. */
async function timeInCache(
  metadata: string,
  seen: Facts,
  before: readonly [] | readonly [CachedNow],
): Promise<bigint | undefined> {
  if (seen.mtimeNs % nsPerMs === 0n) return undefined
  const cached = await whatIsKnown(metadata)
  if (cached === undefined || BigInt(cached.size) !== seen.size) return undefined
  const [earlier] = before.length === 0 ? [cached] : before
  if (earlier === undefined || earlier === 'changing' || earlier.mtimeNs !== cached.mtimeNs) return undefined
  const apart = cached.mtimeNs - seen.mtimeNs
  return apart < -sameWriteNs || apart > sameWriteNs ? undefined : cached.mtimeNs
}

/** Reads the cache's note on a file that was written here. The cache writes the note a moment after the write. */
async function whatIsKnown(metadata: string): Promise<CachedFile | undefined> {
  for (let attempt = 0; attempt < knownAttempts; attempt += 1) {
    const cached = lookAtCachedFile(metadata)
    if (cached !== undefined && cached !== 'changing') return cached
    await delay(1)
  }
  return undefined
}

const knownAttempts = 20

const nsPerMs = 1_000_000n
/** Limit of nanoseconds between two times of one write: the time of the finished file, and rclone's final time. */
export const sameWriteNs = 200_000_000n

export interface VersionContext {
  readonly files: StorageAdapter
  readonly running: RunningMount
  /** Host path of the cache's metadata of this adapter's part. */
  readonly metadata: string
  /** This adapter's part of the mount, as rclone names it: `""`, or `threads/t1/`. */
  readonly below: string
}

/**
 * A mount changes the time of a file on its own. A file that was written here has this machine's time until its upload, then the
 * store's time in seconds, and after the next listing in milliseconds. A caller with an earlier version must not get an
 * error about a changed file.
 *
 * Returns the file's present version if its content is still that of `version`; otherwise `undefined`. The content is the same
 * if the cache has the content of that write, and the store's hash equals the cache's hash.
 */
export async function sameContentNow(
  { files, running, metadata, below }: VersionContext,
  path: MountPath,
  version: Version,
): Promise<Version | undefined> {
  const then = factsOfVersion(version)
  if (then === undefined) return undefined
  const current = await statOrNothing(files, path)
  if (current === undefined) return undefined
  const cached = await readCachedFile(join(metadata, path))
  if (wasWrittenSince(then, cached)) return undefined
  // the version that a new stat would return
  if ((await settled(join(metadata, path), current)).version === version) return current.version
  const now = factsOfVersion(current.version)
  if (current.type !== 'file' || now === undefined || now.size !== then.size) return undefined
  const isKnown = then.ctimeNs !== then.mtimeNs
  if (isKnown && cached !== undefined && cached.mtimeNs !== then.ctimeNs) return undefined
  if (now.mtimeNs === then.mtimeNs) return current.version
  if (cached === undefined || BigInt(cached.size) !== then.size) return undefined
  // The file was uploaded a moment ago, and the cache has not noted the upload: every reader sees the dirty file.
  if (cached.dirty) return cached.mtimeNs === then.mtimeNs ? current.version : undefined
  if (cached.mtimeNs !== then.mtimeNs && !isSecondOf(then.mtimeNs, now.mtimeNs)) return undefined
  const hash = hashInNote(cached)
  if (hash === undefined) return undefined
  const { control, fs } = running
  return (await hashInStore(control, { fs, remote: `${below}${path.slice(1)}` })) === hash ? current.version : undefined
}

/** True if the cache has a later write than the version's write. The kernel may report an old time for a second. */
function wasWrittenSince({ mtimeNs, ctimeNs }: Facts, cached: CachedFile | undefined): boolean {
  if (cached === undefined || cached.mtimeNs === 0n) return false
  // a clean file with a time in whole milliseconds came from the store
  if (!cached.dirty && cached.mtimeNs % nsPerMs === 0n) return false
  // after the upload, a version contains the store's time, and the time of the write as ctime
  const written = mtimeNs % nsPerMs === 0n ? ctimeNs : mtimeNs
  return written % nsPerMs !== 0n && written !== cached.mtimeNs
}

/** Call this while no writer of this process can change the file. @throws WorkspaceError `ECONFLICT` if the file was written since */
export async function refuseWrittenSince(
  metadata: string,
  operation: string,
  conditions: readonly { readonly path: MountPath; readonly condition: Condition | undefined }[],
): Promise<void> {
  for (const { path, condition } of conditions) {
    const then = isVersion(condition) ? factsOfVersion(condition) : undefined
    if (then === undefined || !wasWrittenSince(then, await readCachedFile(join(metadata, path)))) continue
    throw contractError('ECONFLICT', operation, path)
  }
}

async function statOrNothing(files: StorageAdapter, path: MountPath) {
  try {
    return await files.stat(path)
  } catch (error) {
    if (isWorkspaceError(error)) return undefined
    throw error
  }
}

const nsPerSecond = 1_000_000_000n

/** True if `coarse` is `fine` cut to whole seconds. */
function isSecondOf(coarse: bigint, fine: bigint): boolean {
  return coarse % nsPerSecond === 0n && fine / nsPerSecond === coarse / nsPerSecond
}

/** True for a condition that a change of time alone can break. */
export function isVersion(condition: Condition | undefined): condition is Version {
  return condition !== undefined && condition !== 'absent'
}
