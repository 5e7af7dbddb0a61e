import type { MountPath } from '@ws/core/adapter'

import type { Changes } from './order.ts'
import { databaseOf, hiddenTreeOf } from './paths.ts'

/** Limit of entries in a wave. Entries of a wave are neighbours in time, and arrive in any order. */
const widest = 32
/** Limit of names in one hidden tree, such as `.git`, that are sent one by one. More names are sent in waves. */
const mostHidden = 64
/** Limit of other replacing names that are sent one by one. More names are sent in waves. */
const mostReplaced = 16
/** Endings of SQLite files: a journal undoes an unfinished change, a log continues the database. */
const endings = ['-journal', '', '-wal', '-shm']

/** True for a name that is a hash of its content, with at most an ending. */
export function isHash(path: string): boolean {
  return /(?:^|[^0-9a-f])[0-9a-f]{38,}(?:\.[a-z]+)?$/u.test(path)
}

/** True for a pack's index, by which git finds the pack. */
export function isIndex(path: string): boolean {
  return path.endsWith('.idx')
}

/** Arranges files and links in waves: new hashes first, then other names in the order of their changes. */
export function wavesOf(
  paths: readonly MountPath[],
  { before, time = () => 0 }: Pick<Changes, 'before' | 'time'>,
): Record<'hashes' | 'others', MountPath[][]> {
  const all = new Set<string>(paths)
  const isNew = (path: string): boolean => before(path) === undefined
  const filesOf = (database: string): MountPath[] =>
    endings.map((ending) => `${database}${ending}` as MountPath).filter((path) => all.has(path))
  const isSide = (path: string): boolean => databaseOf(path) !== path && all.has(databaseOf(path))
  const hashes = paths.filter((path) => isNew(path) && isHash(path))
  const known = new Set<string>(hashes)
  const units = paths
    .filter((path) => !known.has(path) && !isSide(path))
    .map((path) => ({ path, isNew: isNew(path), files: filesOf(path) }))
    .map((unit) => ({ ...unit, time: Math.max(...unit.files.map(time)) }))
    .sort((one, other) => {
      return one.time - other.time || Number(other.isNew) - Number(one.isNew) || (one.path < other.path ? -1 : 1)
    })
  const counts = new Map<string, number>()
  const groupOf = (path: string): string | undefined => hiddenTreeOf(path) ?? (isNew(path) ? undefined : '')
  for (const { path } of units) {
    const group = groupOf(path)
    if (group !== undefined) counts.set(group, (counts.get(group) ?? 0) + 1)
  }
  const isAlone = (path: string): boolean => {
    const group = groupOf(path)
    return group !== undefined && (counts.get(group) ?? 0) <= (group === '' ? mostReplaced : mostHidden)
  }
  const waves: MountPath[][] = []
  let wave: MountPath[] = []
  const end = (): void => {
    waves.push(
      wave.filter(isNew),
      wave.filter((path) => !isNew(path)),
    )
    wave = []
  }
  for (const { path, files } of units) {
    const alone = files.length > 1 || isAlone(path)
    if (alone || wave.length === widest) end()
    if (alone) waves.push(...files.map((file) => [file]))
    else wave.push(path)
  }
  end()
  const isFilled = ({ length }: MountPath[]): boolean => length > 0
  return {
    hashes: [hashes.filter((path) => !isIndex(path)), hashes.filter(isIndex)].filter(isFilled),
    others: waves.filter(isFilled),
  }
}
