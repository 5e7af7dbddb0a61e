import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import { factsOfVersion, versionFrom } from '@ws/adapter-local/internal'
import type { WriteResult } from '@ws/core'
import type { MountPath } from '@ws/core/adapter'

import { lookAtCachedFile, noteOf } from '../cache/cached-file.ts'
import type { Open } from '../part/opened.ts'
import { assureStored } from '../part/call-off.ts'
import { sameWriteNs } from './versions.ts'

/** Milliseconds within which rclone notices a closed file, with a wide margin. */
const longestMs = 2_000

/** Runs work that replaces the file at the path, and waits until the cache has recorded it. The caller excludes other writers. */
export async function keepNew(open: Open, path: MountPath, work: () => Promise<WriteResult>): Promise<WriteResult> {
  const before = noteOf(join(open.metadata, path))
  return await keep(open, path, await work(), before)
}

/** Waits until the cache has recorded the written file. `before`: the note of the replaced file. */
export async function keep(open: Open, path: MountPath, written: WriteResult, before?: bigint): Promise<WriteResult> {
  const { result, waits } = await untilKept(join(open.metadata, path), written, before)
  // the file was uploaded before the cache recorded it, so the store is checked
  if (!waits) await assureStored(open, path, 'write')
  return result
}

interface Kept {
  readonly result: WriteResult
  /** True if the file is not uploaded yet. */
  readonly waits: boolean
}

/**
 * Resolves when the cache on the disk has recorded the complete closed file. rclone notices a close shortly after close(2) returns. If
 * rclone is killed in between, it assumes that the new content is missing, and downloads the old content. The record also fixes the file's
 * time, so a later stat finds the same version.
 */
async function untilKept(metadata: string, { version, size }: WriteResult, before: bigint | undefined): Promise<Kept> {
  const written = factsOfVersion(version)
  const asWritten = written === undefined ? version : versionFrom(written)
  const deadline = performance.now() + longestMs
  for (;;) {
    const cached = lookAtCachedFile(metadata)
    const isWhole = cached !== undefined && cached !== 'changing' && cached.complete && cached.size === size
    // The note of the replaced file can be equally recent, because rclone rewrites a note at the end of an upload.
    const isOld = before !== undefined && noteOf(metadata) === before
    // An older note describes the state before the write.
    if (isWhole && !isOld && written !== undefined && cached.mtimeNs >= written.mtimeNs) {
      // A much later time means that another writer came after. The result is then this write's own version, not the present version.
      const isOurs = cached.mtimeNs - written.mtimeNs < sameWriteNs
      const now = isOurs ? versionFrom({ size: written.size, mtimeNs: cached.mtimeNs }) : asWritten
      return { result: { version: now, size }, waits: cached.dirty }
    }
    if (performance.now() > deadline) return { result: { version: asWritten, size }, waits: false } // removed or replaced already
    await delay(1)
  }
}
