import { type BigIntStats, lstatSync } from 'node:fs'

import type { MountPath } from '@ws/core/adapter'
import { Reserve } from '@ws/sandbox'

import { type Where, contractFailure } from '../errors.ts'
import type { Tree } from './tree.ts'

/** The prefix of temporary names. No path of the API reaches such a name, and no listing shows it. */
export const tempPrefix = '.ws-tmp-'

export function isTempName(name: string): boolean {
  return name.startsWith(tempPrefix)
}

export function holdsTempName(path: string): boolean {
  return path.includes(`/${tempPrefix}`)
}

/** True for an entry that only reserves a protected missing name; callers see nothing there. `self`: a path to that entry. */
export function isReserved(status: BigIntStats, self: string): boolean {
  return Reserve.reservedNames.holds(status, self)
}

/** The reserved parts of a path, the deepest last. */
export function reservedAbove(tree: Tree, path: MountPath): MountPath[] {
  const place = tree.hostPath(path)
  const below = tree.root === '/' ? 1 : tree.root.length + 1
  return Reserve.reservedNames
    .above(place)
    .filter((one) => one.length >= below && one.startsWith(tree.hostPath('/' as MountPath)) && isReservedAt(one))
    .map((one) => `/${one.slice(below)}` as MountPath)
}

/** @throws WorkspaceError `ENOENT` if a path is reserved, or is below a reserved name. */
export function refuseReserved(tree: Tree, { operation, path }: Where & { readonly path: MountPath }): void {
  if (reservedAbove(tree, path).length > 0) throw contractFailure({ operation, path }, 'ENOENT')
}

/** Whether a host path is a reserved name. Names are reserved on local disks only. */
export function isReservedAt(place: string): boolean {
  const status = lstatSync(place, { bigint: true, throwIfNoEntry: false })
  return status !== undefined && isReserved(status, place)
}
