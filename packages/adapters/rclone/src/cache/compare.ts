import { join } from 'node:path'

import { hashInNote, readCachedFile } from './cached-file.ts'
import { hashOf } from './content-hash.ts'
import { leavesBelow } from './look.ts'
import type { Places } from './places.ts'
import type { StaleNames } from './stale-names.ts'
import { type FollowedPart, deleteStored, supplyPlace } from './stored.ts'
import { hashInStore, listStore } from '../control/hash.ts'

export interface Comparison {
  readonly places: Places
  readonly staleNames: StaleNames
  /** Directories, each with a slash at its end. */
  readonly directories: readonly string[]
  /** Names that the mount has shown so far. The mount can forget a file that the store does not have. */
  readonly shown: Set<string>
}

export interface Compared {
  /** Names of files that the store lacks, or has with other content than programs see. */
  readonly missing: readonly string[]
  /** Names of objects that may have no matching file. */
  readonly extra: readonly string[]
  /** Empty directories, and files that are not uploaded. rclone still has earlier paths for the directories of these files. */
  readonly kept: readonly string[]
  /** True if programs have changed names meanwhile. */
  readonly isChanging: boolean
}

/**
 * Compares files of the cache and directories of the mount with the store, and uploads missing files. Objects of this mount are
 * removed if messages have reported that programs removed or moved the file.
 */
export async function compare(part: FollowedPart, comparison: Comparison): Promise<Compared> {
  const { places, staleNames, directories, shown } = comparison
  await part.catchUp()
  const { changed, isPending } = places
  const { latest, keys, unsure } = places.expected()
  for (const place of latest.keys()) staleNames.noteMade(place)
  const judged = new Set([places.items, latest, keys].flatMap((names) => [...names.keys()]))
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
  staleNames.noteCompared((name) => judged.has(name) || isListed(name))
  await part.catchUp()
  return { missing, extra, kept, isChanging: isPending || places.isPending || changed !== places.changed }
}
