import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import { factsOfVersion, versionFrom } from '@ws/adapter-local/internal'
import type { WriteResult } from '@ws/core'
import type { MountPath } from '@ws/core/adapter'

import { lookAtCachedFile, noteOf } from '../cache/cached-file.ts'
import type { Open } from '../part/opened.ts'
import { assureStored } from '../part/call-off.ts'
import { sameWriteNs } from './versions.ts'

/** Milliseconds in which rclone hears that a file was closed, with much to spare. */
const longestMs = 2_000

/** Does work that gives the path a new file, and waits until the cache holds it. The caller excludes other writers. */
export async function keepNew(open: Open, path: MountPath, work: () => Promise<WriteResult>): Promise<WriteResult> {
  const before = noteOf(join(open.metadata, path))
  return await keep(open, path, await work(), before)
}

/** Waits until the cache holds what was written. `before`: the note of the file that was replaced. */
export async function keep(open: Open, path: MountPath, written: WriteResult, before?: bigint): Promise<WriteResult> {
  const { result, waits } = await untilKept(join(open.metadata, path), written, before)
  // slower than the upload would begin
  if (!waits) await assureStored(open, path, 'write')
  return result
}

interface Kept {
  readonly result: WriteResult
  /** It is still to be uploaded. */
  readonly waits: boolean
}

/**
 * Resolves when the cache on the disk says that it holds the whole of a file that was written and closed. Closing
 * reaches rclone a moment after close(2) has returned. If rclone is killed in that moment, it takes the new content for
 * missing, and fetches the old content. The file gets its final time then too, so the version is the same that a later
 * stat finds.
 *
 * `metadata`: host path of what the cache says of the file.
 */
async function untilKept(metadata: string, { version, size }: WriteResult, before: bigint | undefined): Promise<Kept> {
  const written = factsOfVersion(version)
  const asWritten = written === undefined ? version : versionFrom(written)
  const deadline = performance.now() + longestMs
  for (;;) {
    const cached = lookAtCachedFile(metadata)
    const isWhole = cached !== undefined && cached !== 'changing' && cached.complete && cached.size === size
    // The note of the file that was replaced can be as late: rclone notes the end of an upload, too.
    const isOld = before !== undefined && noteOf(metadata) === before
    // An older note is of the state before.
    if (isWhole && !isOld && written !== undefined && cached.mtimeNs >= written.mtimeNs) {
      // A much later time comes from another writer: then our version differs from the version that is there.
      const isOurs = cached.mtimeNs - written.mtimeNs < sameWriteNs
      const now = isOurs ? versionFrom({ size: written.size, mtimeNs: cached.mtimeNs }) : asWritten
      return { result: { version: now, size }, waits: cached.dirty }
    }
    if (performance.now() > deadline) return { result: { version: asWritten, size }, waits: false } // removed or replaced already
    await delay(1)
  }
}
