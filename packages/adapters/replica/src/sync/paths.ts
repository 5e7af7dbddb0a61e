import { paths } from '@ws/core'
import type { MountPath } from '@ws/core/adapter'

/** The directories above a path, the topmost first, without the root. */
export function ancestorsOf(path: MountPath): MountPath[] {
  const above: MountPath[] = []
  for (let at = paths.parent(path); at !== paths.mountRoot; at = paths.parent(at)) above.unshift(at)
  return above
}

function depthOf(path: string): number {
  return path.split('/').length
}

/** Sorts paths so that directories come before their entries. */
export function parentsFirst(given: Iterable<string>): MountPath[] {
  return ([...given] as MountPath[]).sort((left, right) => depthOf(left) - depthOf(right) || (left < right ? -1 : 1))
}

export function childrenFirst(given: Iterable<string>): MountPath[] {
  return parentsFirst(given).reverse()
}

/** The tree whose entries depend on one another: from the topmost hidden name down, such as `.git`. */
export function hiddenTreeOf(path: string): string | undefined {
  return /^.*?\/\.[^/]+/u.exec(path)?.[0]
}

/** True for a name in a git repository, whose names depend on one another. Locks do not count: they end with their program. */
export function isInRepository(path: string): boolean {
  return path.includes('/.git/') && !path.endsWith('.lock')
}

/** The database that a file of SQLite belongs to; the path itself for every other file. */
export function databaseOf(path: string): string {
  return path.replace(/-(?:wal|shm|journal)$/u, '')
}

/** The tree or the database whose entries depend on one another; the path itself for every other file. */
export function unitOf(path: string): string {
  return hiddenTreeOf(path) ?? databaseOf(path)
}

/** True for a path with one of these names in it. */
export function isBelowName(path: string, names: ReadonlySet<string>): boolean {
  return names.size > 0 && path.split('/').some((name) => names.has(name))
}
