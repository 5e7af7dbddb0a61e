import { setTimeout as delay } from 'node:timers/promises'

import type { MountPath } from '@ws/core/adapter'

import { largeBytes } from '../worker/protocol.ts'
import { ancestorsOf, databaseOf } from './paths.ts'
import { type Held, look, type Site } from './site.ts'
import { type ReplicaTree, timeOf } from './tree.ts'

/** Milliseconds by which the clock of a disk can be late. */
const tick = 10

/**
 * Looks at everything. Programs may change entries meanwhile: the look can miss an earlier change, on which a later one depends. The
 * later one is young until the next look, which has both.
 */
export async function lookAtAll(site: Site): Promise<void> {
  const { tree, isBusy } = site
  const before = new Map<string, number | undefined>(tree.young)
  for (const path of tree.gone) before.set(path, undefined)
  const isBusyNow = isBusy()
  const border = Date.now() + (isBusyNow ? 0 : 1)
  if (isBusyNow) await delay(tick)
  await look(site)
  const files = ([...tree.dirty] as MountPath[]).filter((path) => tree.seen.get(path)?.type !== 'directory')
  const isYoung = (path: MountPath): boolean => {
    const time = timeOf(tree.seen.get(path))
    const isAsBefore = before.has(path) && before.get(path) === time
    return !isAsBefore && (time ?? leftAt(tree, path)) >= border
  }
  const databases = new Set(files.filter(isYoung).map(databaseOf))
  tree.young = new Map(
    files.filter((path) => databases.has(databaseOf(path))).map((path) => [path, timeOf(tree.seen.get(path))]),
  )
}

/** The entries that are as they were when they were young. */
export function youngIn({ young, seen }: ReplicaTree): MountPath[] {
  return [...young].filter(([path, time]) => timeOf(seen.get(path)) === time).map(([path]) => path)
}

/** The latest time at which an entry can have left its place. */
function leftAt({ seen, changedAt }: ReplicaTree, path: MountPath): number {
  const above = seen.get(ancestorsOf(path).findLast((at) => seen.has(at)) ?? '')
  return above === undefined ? changedAt : Math.max(timeOf(above) ?? 0, above.mtime)
}

/** Takes the small ones among these entries as they are now. Files of one database are taken together, or not at all. */
export async function hold(site: Site, paths: readonly MountPath[]): Promise<ReadonlyMap<MountPath, Held>> {
  const { tree, disk, isBusy } = site
  const held = new Map<MountPath, Held>()
  if (paths.length === 0) return held
  await look(site, paths)
  for (const path of paths) {
    const facts = tree.seen.get(path)
    if (facts === undefined || facts.size > largeBytes) continue
    const bytes = facts.type === 'file' ? await disk.ask('read', path, isBusy()) : undefined
    if (bytes !== undefined || facts.type === 'symlink') held.set(path, { facts, bytes })
  }
  await look(site, paths)
  const torn = new Set(
    paths.filter((path) => tree.seen.get(path)?.ctime !== held.get(path)?.facts.ctime).map(databaseOf),
  )
  for (const path of held.keys()) if (torn.has(databaseOf(path))) held.delete(path)
  return held
}
