import { lstatSync, readdirSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'

import type { StoredPart } from './stored.ts'

/**
 * Makes room for a file that gets this name by renaming. rclone keeps the cache's directories of a directory that was
 * removed, and loses the content of a file that is moved to such a name.
 */
export function makeRoom({ metadata, content }: Pick<StoredPart, 'metadata' | 'content'>, path: string): void {
  for (const cache of [metadata, content]) removeEmpty(join(cache, path))
}

function removeEmpty(path: string): void {
  try {
    if (!lstatSync(path).isDirectory()) return
    for (const name of readdirSync(path)) removeEmpty(join(path, name))
    rmdirSync(path)
  } catch {
    // nothing is there, or the content of a file below it
  }
}
