import { execFile } from 'node:child_process'
import { lstat, mkdir, opendir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

import type { MountDirectories } from '../state/directories.ts'
import { type CachedFile, hashInNote, readCachedFile } from './cached-file.ts'
import { hashOf } from './content-hash.ts'
import { cacheError, unlessMissing } from './disk.ts'
import { systemPath } from '../program/find.ts'

const execute = promisify(execFile)

/**
 * Repairs notes that rclone was writing when it was killed. rclone does not replace a note in one step, and moves note and content
 * separately. At the next start, rclone would discard or truncate such a file, and lose acknowledged content. The note is therefore
 * marked as not uploaded. Content with holes is a part of the store's file, and remains unchanged.
 *
 * @throws WorkspaceError if a note or a content cannot be read or written
 */
export async function repairCache(place: MountDirectories): Promise<void> {
  try {
    await repair(place)
  } catch (error) {
    throw cacheError(error)
  }
}

async function repair(place: MountDirectories): Promise<void> {
  const content = join(place.cache, 'vfs')
  const metadata = join(place.cache, 'vfsMeta')
  if (!(await isFree(place.lock))) return // another process uses the cache at this moment
  await finishRenames(content, metadata)
  for await (const path of filesBelow(content, '')) {
    const file = await contentAt(join(content, path))
    if (file === undefined || file.hasHoles) continue
    const said = await readCachedFile(join(metadata, path))
    if (said !== undefined && said.size >= 0 && (await isTrue(said, file))) continue
    const ranges = file.size === 0 ? null : [{ Pos: 0, Size: file.size }]
    const text = { ModTime: file.time, ATime: file.time, Size: file.size, Rs: ranges, Fingerprint: '', Dirty: true }
    await mkdir(dirname(join(metadata, path)), { recursive: true, mode: 0o700 })
    await writeFile(join(metadata, path), JSON.stringify(text), { mode: 0o600 })
  }
}

interface Content {
  readonly path: string
  readonly size: number
  readonly mtimeNs: bigint
  readonly time: string
  readonly hasHoles: boolean
}

async function contentAt(path: string): Promise<Content | undefined> {
  const status = await lstat(path, { bigint: true }).catch(unlessMissing)
  if (status === undefined) return undefined
  const { size, blocks, mtimeNs, mtime } = status
  return { path, size: Number(size), mtimeNs, time: mtime.toISOString(), hasHoles: blocks * 512n < size }
}

/** Finishes renames that were interrupted after rclone moved the content. The metadata must follow, or another file could get it. */
async function finishRenames(content: string, metadata: string): Promise<void> {
  for await (const path of filesBelow(metadata, '')) {
    const orphan = join(metadata, path)
    if ((await contentAt(join(content, path))) !== undefined) continue
    const said = await readCachedFile(orphan)
    const renamed = said === undefined ? undefined : await findRenamed(content, metadata, said)
    if (renamed === undefined) await rm(orphan)
    else await rename(orphan, join(metadata, renamed))
  }
}

/** Finds the content that belongs to a note. The times of the note and of closed content are equal to the nanosecond. */
async function findRenamed(content: string, metadata: string, said: CachedFile): Promise<string | undefined> {
  if (!said.dirty || said.mtimeNs === 0n) return undefined
  for await (const path of filesBelow(content, '')) {
    const file = await contentAt(join(content, path))
    if (file?.mtimeNs !== said.mtimeNs || file.size !== said.size) continue
    if ((await readCachedFile(join(metadata, path)))?.mtimeNs !== said.mtimeNs) return path
  }
  return undefined
}

const nsPerMs = 1_000_000n

/**
 * Whether a note describes this content. If a program closed a file that had been replaced, rclone notes the older state. While a
 * complete file is being written, the note does not match either.
 */
async function isTrue(said: CachedFile, { path, size, mtimeNs }: Content): Promise<boolean> {
  if (!said.complete) return true
  if (said.dirty) return said.size === size
  // The time of a file that came from the store is in whole milliseconds.
  if (mtimeNs % nsPerMs === 0n || mtimeNs === said.mtimeNs) return true
  const hash = hashInNote(said)
  return hash === undefined || (await hashOf(path)) === hash
}

async function* filesBelow(directory: string, path: string): AsyncGenerator<string> {
  const listing = await opendir(directory).catch(unlessMissing)
  if (listing === undefined) return
  for await (const entry of listing) {
    const below = `${path}/${entry.name}`
    if (entry.isDirectory()) yield* filesBelow(join(directory, entry.name), below)
    else yield below
  }
}

async function isFree(lock: string): Promise<boolean> {
  try {
    await execute('flock', ['-n', lock, 'true'], { env: { PATH: systemPath } })
    return true
  } catch (error) {
    const { code } = error as { readonly code?: unknown }
    // held by another process, or no `flock`: the mount that follows is refused for the same reason
    if (code === isHeld || code === 'ENOENT') return false
    throw error
  }
}

/** The exit code of `flock` for a lock that another process holds. */
const isHeld = 1
