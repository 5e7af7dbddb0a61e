import { setTimeout as delay } from 'node:timers/promises'

import type { MountPath } from '@ws/core/adapter'

import { largeBytes, type Seen } from '../worker/protocol.ts'
import { databaseOf, hiddenTreeOf } from './paths.ts'
import { type Held, rescan, type Site } from './site.ts'
import { type ReplicaTree, timeOf } from './tree.ts'
import { isHash } from './waves.ts'

/** Milliseconds by which the clock of a disk can be late. */
const tick = 10

/**
 * Scans everything. If programs change entries during the scan, it can see a change but miss an earlier change that must come first. The
 * entry is then young until the next scan, which sees both. New hashes are never young, since git may pack objects during a scan.
 */
export async function lookAtAll(site: Site): Promise<void> {
  const { tree, isBusy } = site
  const before = new Map<string, number | undefined>(tree.young)
  for (const path of tree.gone) before.set(path, undefined)
  const isBusyNow = isBusy()
  const border = Date.now() + (isBusyNow ? 0 : 1)
  if (isBusyNow) await delay(tick)
  await rescan(site)
  const isNewHash = (path: string): boolean => isHash(path) && tree.seen.has(path) && !tree.base.has(path)
  const files = ([...tree.dirty] as MountPath[]).filter(
    (path) => tree.seen.get(path)?.type !== 'directory' && !isNewHash(path),
  )
  const isYoung = (path: MountPath): boolean => {
    const time = timeOf(tree.seen.get(path))
    const isAsBefore = before.has(path) && before.get(path) === time
    return !isAsBefore && (time ?? (isBusyNow ? Infinity : 0)) >= border
  }
  const groups = new Set(files.filter(isYoung).map(groupOf))
  tree.young = new Map(
    files
      .filter((path) => groups.has(groupOf(path)) || groups.has(hiddenTreeOf(path) ?? ''))
      .map((path) => [path, timeOf(tree.seen.get(path))]),
  )
}

/** Groups entries that are young together. Any name of a repository may have moved into `packed-refs`. */
function groupOf(path: string): string {
  return path.endsWith('/packed-refs') ? (hiddenTreeOf(path) ?? path) : databaseOf(path)
}

/** The young entries that have not changed since they were found young. */
export function youngIn({ young, seen }: ReplicaTree): MountPath[] {
  return [...young].filter(([path, time]) => timeOf(seen.get(path)) === time).map(([path]) => path)
}

/** Keeps the present state of the small entries. Files of one database, also removed files, are kept together or not at all. */
export async function hold(site: Site, paths: readonly MountPath[]): Promise<ReadonlyMap<MountPath, Held>> {
  const { tree, disk, isBusy } = site
  const held = new Map<MountPath, Held>()
  if (paths.length === 0) return held
  await rescan(site, paths)
  for (const path of paths) {
    const facts = tree.seen.get(path)
    if ((facts?.size ?? 0) > largeBytes) continue
    const bytes = facts?.type === 'file' ? await disk.ask('read', path, isBusy()) : undefined
    const isHeld = facts === undefined ? databaseOf(path) !== path : bytes !== undefined || facts.type === 'symlink'
    if (isHeld) held.set(path, { facts, bytes })
  }
  await rescan(site, paths)
  const isSame = (one: Seen | undefined, other: Seen | undefined): boolean =>
    one?.ctime === other?.ctime && one?.content === other?.content
  const torn = new Set(paths.filter((path) => !isSame(tree.seen.get(path), held.get(path)?.facts)).map(databaseOf))
  for (const path of held.keys()) if (torn.has(databaseOf(path))) held.delete(path)
  return held
}
