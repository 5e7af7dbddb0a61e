import type { MountPath } from '@ws/core/adapter'

import { ancestorsOf, childrenFirst, parentsFirst } from './paths.ts'
import type { ReplicaTree } from './tree.ts'

type Tree = Pick<ReplicaTree, 'base' | 'seen' | 'dirty' | 'isUnknown'>

interface Order {
  readonly early: readonly MountPath[]
  /** Gone, and below a path that another entry takes. */
  readonly inTheWay: readonly MountPath[]
  /** Entries that replace one of another type, and entries below them. */
  readonly late: readonly MountPath[]
  /** Gone. */
  readonly rest: readonly MountPath[]
}

/** The paths of a push, in an order in which the store gets new entries before it loses old ones. */
export function orderOf(tree: Tree): Order {
  const { base, seen } = tree
  const known = [...tree.dirty].filter((path) => !tree.isUnknown(path))
  const present = parentsFirst(known.filter((path) => seen.has(path)))
  const gone = childrenFirst(known.filter((path) => !seen.has(path)))
  const takers = (path: MountPath): MountPath[] =>
    ancestorsOf(path).filter((above) => (seen.get(above)?.type ?? 'directory') !== 'directory')
  const replaces = (path: string): boolean => (base.get(path)?.type ?? seen.get(path)?.type) !== seen.get(path)?.type
  const replacing = new Set([...present.filter(replaces), ...gone.flatMap(takers)])
  const isLate = (path: MountPath): boolean => [path, ...ancestorsOf(path)].some((at) => replacing.has(at))
  return {
    early: present.filter((path) => !isLate(path)),
    inTheWay: gone.filter((path) => takers(path).length > 0),
    late: present.filter(isLate),
    rest: gone.filter((path) => takers(path).length === 0),
  }
}

/** True for paths that wait: the store does not have their bytes yet under the name to which they were moved. */
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
