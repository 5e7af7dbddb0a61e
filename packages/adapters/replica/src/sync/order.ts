import { paths } from '@ws/core'
import type { MountPath } from '@ws/core/adapter'
import type { Facts } from '@ws/tree/disk'

import { ancestorsOf, childrenFirst, databaseOf, parentsFirst } from './paths.ts'
import type { ReplicaTree } from './tree.ts'
import { isHash, isIndex, wavesOf } from './waves.ts'

/** Changed entries, with their types before and after. */
export interface Changes {
  readonly paths: Iterable<MountPath>
  /** `undefined` if no entry exists. */
  readonly before: (path: string) => Facts['type'] | undefined
  readonly after: (path: string) => Facts['type'] | undefined
  /** When the entry changed. Default: not known. */
  readonly time?: ((path: string) => number) | undefined
}

export interface Order {
  /** Directories that are new or have changed permission bits, parents first. */
  readonly directories: readonly MountPath[]
  /** Files and links. Each wave may begin when the wave before it has arrived. */
  readonly waves: readonly (readonly MountPath[])[]
  /** `inTheWay` and `late` come before the wave with this index. */
  readonly lateAt: number
  /** Removed entries below a path that another entry takes. */
  readonly inTheWay: readonly MountPath[]
  /** Entries that replace an entry of another type, and entries below them. Directories come first. */
  readonly late: readonly MountPath[]
  /** Removed entries in waves: hashes after the names that referred to them. Directories come last, children first. */
  readonly gone: readonly (readonly MountPath[])[]
}

/**
 * Orders changes so that a reader only sees states that programs could have left. Names that are hashes come first, because they
 * mean nothing until another name refers to them. Other names follow in the order of their changes. Deletions come last.
 */
export function orderOf(changes: Changes): Order {
  const { before, after, time = () => 0 } = changes
  const changed = [...changes.paths]
  const present = parentsFirst(changed.filter((path) => after(path) !== undefined))
  const gone = childrenFirst(changed.filter((path) => after(path) === undefined))
  const takers = (path: MountPath): MountPath[] =>
    ancestorsOf(path).filter((above) => (after(above) ?? 'directory') !== 'directory')
  const replaces = (path: string): boolean => (before(path) ?? after(path)) !== after(path)
  const inTheWay = new Set(gone.filter((path) => takers(path).length > 0))
  const replacing = new Set([...present.filter(replaces), ...[...inTheWay].flatMap(takers)])
  const isLate = (path: MountPath): boolean =>
    replacing.size > 0 && [path, ...ancestorsOf(path)].some((at) => replacing.has(at))
  const early = present.filter((path) => !isLate(path))
  const late = present.filter(isLate)
  const isDirectory = (path: MountPath): boolean => after(path) === 'directory'
  const isOther = (path: MountPath): boolean => !isDirectory(path)
  // a journal or log no longer fits the database after its change, so it is deleted before
  const isLog = (path: MountPath): boolean => databaseOf(path) !== path && early.includes(databaseOf(path) as MountPath)
  const { hashes, others } = wavesOf([...early.filter(isOther), ...gone.filter(isLog)], changes)
  const waves = [...hashes, ...others]
  const since = late.reduce((least, path) => Math.min(least, time(path)), Infinity)
  const later = others.findIndex(([path = paths.mountRoot]) => time(path) > since)
  return {
    directories: early.filter(isDirectory),
    waves,
    lateAt: later === -1 ? waves.length : hashes.length + later,
    inTheWay: [...inTheWay],
    late: [...late.filter(isDirectory), ...late.filter(isOther)],
    gone: departures(
      gone.filter((path) => !inTheWay.has(path) && !isLog(path)),
      (path) => before(path) === 'directory',
    ),
  }
}

function departures(changed: readonly MountPath[], isDirectory: (path: string) => boolean): MountPath[][] {
  const files = changed.filter((path) => !isDirectory(path))
  return [
    files.filter((path) => !isHash(path)),
    files.filter((path) => isHash(path) && isIndex(path)),
    files.filter((path) => isHash(path) && !isIndex(path)),
    ...changed.filter(isDirectory).map((path) => [path]),
  ]
}

type Tree = Pick<ReplicaTree, 'base' | 'seen' | 'dirty'>

/** Returns a predicate for paths that must wait: the store lacks their bytes under a moved entry's new name. */
export function heldBack(
  { base, seen, dirty }: Tree,
  old: readonly MountPath[],
  moved: readonly MountPath[],
): (path: MountPath) => boolean {
  const bytesOf = (
    path: string,
    side: ReadonlyMap<string, { content?: string | undefined; target?: string | undefined }>,
  ) => side.get(path)?.content ?? side.get(path)?.target
  const waiting = new Set(moved.filter((path) => dirty.has(path)).map((path) => bytesOf(path, seen)))
  waiting.delete(undefined)
  const held = new Set(old.filter((path) => waiting.has(bytesOf(path, base))))
  const above = new Set([...held].flatMap(ancestorsOf))
  return (path) => above.has(path) || [path, ...ancestorsOf(path)].some((at) => held.has(at))
}
