import { lstatSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import { isWorkspaceError } from '@ws/core'
import type { MountPath, StorageAdapter } from '@ws/core/adapter'

import { DirtyFiles } from './dirty.ts'
import type { StoredPart } from './stored.ts'

interface CachedPart extends Pick<StoredPart, 'metadata' | 'content'> {
  readonly files: Pick<StorageAdapter, 'stat'>
}

/**
 * Makes room for a file that gets this name by renaming. rclone keeps cache directories of a removed directory, and loses the content
 * of a file that is moved to such a name. rclone also keeps files that it deleted under an earlier path of their directory.
 * rclone notices if an uploaded file is missing in its cache.
 */
export async function makeRoom({ metadata, content, files }: CachedPart, path: MountPath): Promise<void> {
  const places = [join(metadata, path), join(content, path)]
  if (places.map(removeEmpty).every((isFree) => isFree)) return
  if ((await new DirtyFiles(join(metadata, path)).first()) !== undefined) return
  const isThere = await files.stat(path).then(
    () => true,
    (error: unknown) => !isWorkspaceError(error, 'ENOENT'),
  )
  if (!isThere) for (const place of places) rmSync(place, { recursive: true, force: true })
}

/** Removes empty directories at a path. True if no directory is left. */
function removeEmpty(path: string): boolean {
  try {
    if (!lstatSync(path).isDirectory()) return true
    for (const name of readdirSync(path)) removeEmpty(join(path, name))
    rmdirSync(path)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
  }
}
