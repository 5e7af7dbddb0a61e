import { execFile } from 'node:child_process'
import { lstat, mkdir, opendir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { defaultPath } from '@ws/process'

import type { Place } from '../state/place.ts'
import { readCachedFile } from './cached-file.ts'

/**
 * Mends what rclone was writing when it was killed: what it says of a file is not replaced in one step, and is moved apart
 * from the content. Such a file would be thrown away at the next start, and with it what was acknowledged; it is
 * marked as not uploaded instead. Content with holes is a part of what the store has, and is left to rclone.
 */
export async function repairCache(place: Place): Promise<void> {
  const content = join(place.cache, 'vfs')
  const metadata = join(place.cache, 'vfsMeta')
  if (!(await isFree(place.lock))) return // somebody uses it at this moment
  for await (const path of filesBelow(content, '')) {
    const said = await readCachedFile(join(metadata, path))
    if (said !== undefined && said.size >= 0) continue
    const { size, blocks, mtime } = await lstat(join(content, path))
    if (blocks * 512 < size) continue
    const time = mtime.toISOString()
    const ranges = size === 0 ? null : [{ Pos: 0, Size: size }]
    const text = { ModTime: time, ATime: time, Size: size, Rs: ranges, Fingerprint: '', Dirty: true }
    await mkdir(dirname(join(metadata, path)), { recursive: true, mode: 0o700 })
    await writeFile(join(metadata, path), JSON.stringify(text), { mode: 0o600 })
  }
  for await (const path of filesBelow(metadata, '')) {
    // its content has another name by now
    if ((await lstat(join(content, path)).catch(() => undefined)) === undefined) await rm(join(metadata, path))
  }
}

async function* filesBelow(directory: string, path: string): AsyncGenerator<string> {
  const listing = await opendir(directory).catch(() => undefined)
  if (listing === undefined) return
  for await (const entry of listing) {
    const below = `${path}/${entry.name}`
    if (entry.isDirectory()) yield* filesBelow(join(directory, entry.name), below)
    else yield below
  }
}

/** Nobody holds the lock. */
async function isFree(lock: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  execFile('flock', ['-n', lock, 'true'], { env: { PATH: defaultPath } }, (error) => resolve(error === null))
  return await promise
}
