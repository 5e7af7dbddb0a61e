import { join } from 'node:path'

import { hashInNote, readCachedFile } from './cached-file.ts'
import { hashOf } from './content-hash.ts'
import type { Expected } from './item.ts'
import { leavesBelow } from './look.ts'
import type { Places } from './places.ts'
import { type FollowedPart, deleteStored, supplyPlace } from './stored.ts'
import { hashInStore, listStore } from '../control/hash.ts'

/** Most scans of the store, the first one included. */
const mostLooks = 3

export interface Comparison extends Expected {
  /** Directories, each with a slash at its end. */
  readonly directories: readonly string[]
  readonly places: Places
}

export interface Compared {
  /** Names of files that the store does not have as programs see them. */
  readonly missing: readonly string[]
  /** Names of objects that may match no file of programs. */
  readonly extra: readonly string[]
  /** Empty directories, and files that are not uploaded. rclone still knows their directories by earlier paths. */
  readonly kept: readonly string[]
}

/**
 * Compares files of the cache, and directories of the mount, with the store. Adds missing entries to the store. Removes or moves the
 * objects of this mount whose files were removed or moved by programs, according to rclone's messages.
 */
export async function compare(part: FollowedPart, comparison: () => Comparison): Promise<Compared> {
  const shown = new Set<string>()
  let compared = await mend(part, comparison(), shown)
  for (let look = 1; look < mostLooks && compared.missing.length + compared.extra.length > 0; look += 1) {
    await part.control.call('vfs/forget', {}, { signal: part.signal })
    compared = await mend(part, comparison(), shown)
  }
  return compared
}

/** `shown`: names that the mount has shown so far. It can forget a file that the store does not have. */
async function mend(part: FollowedPart, comparison: Comparison, shown: Set<string>): Promise<Compared> {
  const { directories, latest, keys, unsure, places } = comparison
  const isThere = (name: string) => places.told.get(name)
  const { control, fs, root, metadata, content, signal } = part
  const outer = directories.filter((one) => !directories.some((other) => one !== other && one.startsWith(other)))
  for (const directory of outer) for await (const name of leavesBelow(root, directory)) shown.add(name)
  const stored = await listStore(control, fs, outer, signal)
  const isListed = (name: string) => outer.some((directory) => name.startsWith(directory))
  const hashAt = async (remote: string) =>
    isListed(remote) ? stored.get(remote) : await hashInStore(control, { fs, remote }, signal)
  const has = async (name: string) => stored.has(name) || (await hashAt(name)) !== undefined
  const kept = [...shown].filter((name) => name.endsWith('/'))
  const missing: string[] = []
  const extra: string[] = []
  for (const [place, { name, isBlind }] of latest) {
    const note = await readCachedFile(join(metadata, name))
    if (note?.dirty === true) {
      kept.push(place)
      continue
    }
    const hash = (await hashOf(join(content, name))) ?? hashInNote(note)
    if (hash !== undefined && (await hashAt(place)) === hash) continue
    missing.push(place)
    await part.catchUp()
    if (hash === undefined || isBlind === true || !places.isAt(name, place)) continue
    places.given.add(place)
    await supplyPlace(part, name, place)
    await part.catchUp()
    places.noteGiven(name, place)
  }
  for (const key of new Set([...keys, ...places.moved])) {
    if (latest.has(key) || (!keys.has(key) && !places.isGone(key)) || !(await has(key))) continue
    // programs may change files meanwhile
    await part.catchUp()
    if (places.isGone(key)) {
      await deleteStored(control, { fs, remote: key }, signal)
      await part.catchUp()
      if (!places.isGone(key)) places.lost.add(key)
    } else extra.push(key)
  }
  for (const name of new Set(unsure)) if (shown.has(name) || (await has(name))) extra.push(name)
  const moved = [...places.moved].filter((name) => places.files.has(name) && isThere(name) === true)
  for (const name of new Set([...shown, ...moved])) {
    if (name.endsWith('/') || latest.has(name) || isThere(name) === false || (await has(name))) continue
    if ((await readCachedFile(join(metadata, name)))?.dirty === true) kept.push(name)
    else missing.push(name)
  }
  for (const key of stored.keys()) if (isThere(key) === false && !latest.has(key)) extra.push(key)
  return { missing, extra, kept }
}
