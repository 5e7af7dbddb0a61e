import type { MountPath, SignalOption } from '@ws/core/adapter'
import { contentOf } from '@ws/tree/disk'

import { keepOurs } from './conflict.ts'
import { joinedLogOf } from './databases.ts'
import { stampOf } from './names.ts'
import { databaseOf, hiddenTreeOf, isInRepository } from './paths.ts'
import { differences, fetchEntry, type Remote } from './remote.ts'
import { agree, type Site } from './site.ts'
import { baseOf } from './tree.ts'
import { isHash } from './waves.ts'

type Listing = ReadonlyMap<string, Remote>

/** Endings of the SQLite files that together hold a database's content. */
const endings = ['', '-wal', '-journal']

/**
 * Restores names that this machine removed from a hidden tree, such as a git repository, if another machine has changed the tree.
 * The change may need these names. The edit wins over the deletion.
 */
export async function bringBack(site: Site, list: () => Promise<Listing>, options: SignalOption): Promise<void> {
  const removed = [...site.tree.gone].filter((path) => isHash(path) || isInRepository(path))
  const trees = new Set(removed.map(hiddenTreeOf))
  trees.delete(undefined)
  if (trees.size === 0) return
  const listed = await list()
  const changed = await changedThere(site, listed, { ...options, unitOf: hiddenTreeOf, units: trees })
  const back = removed.filter((path) => listed.has(path) && changed.has(hiddenTreeOf(path)))
  if (back.length > 0) await agree(site, [], back)
}

/** True for a hash that another machine has removed while this machine has changes in the same tree. The changes may need the hash. */
export function isStillNeeded({ tree }: Site, path: string): boolean {
  const hidden = hiddenTreeOf(path)
  const isOurs = (one: string): boolean => tree.seen.has(one) && hiddenTreeOf(one) === hidden
  return hidden !== undefined && isHash(path) && [...tree.dirty].some(isOurs)
}

/** Pushes hashes that are still needed to the store again. The decision is made before any change of this machine is discarded. */
export async function keepHashes(site: Site, listed: Listing): Promise<void> {
  const { seen, base, dirty } = site.tree
  if (dirty.size === 0) return
  const lost = [...differences(listed, base, site.limits)].filter(
    ([path, remote]) => remote === undefined && seen.has(path),
  )
  const needed = lost.map(([path]) => path).filter((path) => isStillNeeded(site, path))
  if (needed.length > 0) await agree(site, [], needed)
}

/** Handles a SQLite database that both machines changed. The store's files keep their paths; this machine's files get another name. */
export async function setDatabasesAside(site: Site, listed: Listing, options: SignalOption): Promise<void> {
  const { tree, machine } = site
  const { dirty, seen, base } = tree
  const hasLog = (database: string): boolean =>
    endings.slice(1).some((end) => [seen, base, listed].some((side) => side.has(`${database}${end}`)))
  const units = new Set(
    [...dirty]
      .filter((path) => !path.endsWith('-shm'))
      .map(databaseOf)
      .filter(hasLog),
  )
  if (units.size === 0) return
  for (const database of await changedThere(site, listed, { ...options, unitOf: databaseOf, units })) {
    const word = `${stampOf(Date.now())}-${machine}`
    for (const path of endings.map((end) => `${database}${end}` as MountPath)) {
      if (seen.get(path)?.type === 'file') await keepOurs(site, path, 'content', word)
      else if (!seen.has(path) && base.has(path)) await agree(site, [], [path])
    }
  }
}

interface UnitOptions<Unit> extends SignalOption {
  readonly unitOf: (path: string) => Unit
  readonly units: ReadonlySet<Unit>
}

/** The units that differ in the store, except states that an earlier process of this machine has sent. */
async function changedThere<Unit>(
  site: Site,
  listed: Listing,
  { unitOf, units, ...options }: UnitOptions<Unit>,
): Promise<ReadonlySet<Unit>> {
  const { base, seen } = site.tree
  const changed = new Set<Unit>()
  for (const [path, remote] of differences(listed, base, site.limits)) {
    const unit = unitOf(path)
    if (!units.has(unit) || changed.has(unit) || isHash(path) || path.endsWith('-shm')) continue
    const facts = seen.get(path)
    if (remote === undefined ? facts === undefined : remote.type === 'directory') continue
    if (remote?.type === 'file' && (await agreeOnLog(site, path as MountPath, remote.size, options))) continue
    const isLike = facts?.type === 'file' && remote?.type === 'file' && facts.size === remote.size
    const fetched = isLike ? fetchEntry(site, path as MountPath, 'file', options) : undefined
    const sent = await fetched?.catch(() => undefined) // unread content counts as changed
    if (sent?.content === undefined || sent.content !== facts?.content) changed.add(unit)
  }
  return changed
}

/** Agrees on a log that this machine's push emptied or joined before its process ended. The next push replaces the log. */
async function agreeOnLog(site: Site, path: MountPath, size: number, options: SignalOption): Promise<boolean> {
  const database = databaseOf(path) as MountPath
  const own = site.tree.seen.get(database) ?? site.tree.base.get(database)
  if (!path.endsWith('-wal') || own?.type !== 'file') return false
  const log = size === 0 ? new Uint8Array() : await joinedLogOf(site, database)
  if (!(log instanceof Uint8Array) || log.length !== size) return false
  const sent = await fetchEntry(site, path, 'file', { ...options, onlyHash: true, size })
  if (sent?.content !== contentOf(log)) return false
  await agree(site, [baseOf(path, { ...own, size, content: sent.content }, sent.version)])
  return true
}
