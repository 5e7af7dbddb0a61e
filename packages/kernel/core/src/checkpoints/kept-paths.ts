import { isWithin, parentPath } from '../path/virtual-path.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import { virtualError } from '../mount/errors.ts'
import type { Change } from '../contract/checkpoints.ts'
import type { VisibleDifference } from './visible.ts'

/**
 * Returns whether a path is among those to keep: at or below `paths`, the other end of a move, another hard link of a file, or a
 * directory that was made above.
 * @throws WorkspaceError `EINVAL` for a path without a change
 */
export function keptPaths(
  paths: readonly VirtualPath[],
  changes: readonly Change[],
  found: readonly VisibleDifference[],
): (path: VirtualPath) => boolean {
  const namesOf = ({ path, from }: Change): VirtualPath[] => (from === undefined ? [path] : [path, from])
  const changed = changes.map(namesOf)
  for (const path of paths)
    if (!changed.some((names) => names.some((name) => isWithin(name, path)))) throw unchanged(path)
  const links = Map.groupBy(found, ({ mount, after }) =>
    after?.type === 'file' && after.identity !== undefined ? `${mount} ${after.identity}` : undefined,
  )
  links.delete(undefined)
  const all = [...changed, ...[...links.values()].map((group) => group.map(({ virtual }) => virtual))]
  const kept = [...paths]
  const isKept = (path: VirtualPath): boolean => kept.some((one) => isWithin(path, one))
  for (let count = 0; count !== kept.length; ) {
    count = kept.length
    for (const names of all) if (names.some(isKept)) kept.push(...names.filter((name) => !isKept(name)))
  }
  const known = new Map(found.map((difference) => [difference.virtual, difference]))
  const above = new Set<VirtualPath>()
  for (const { virtual, after } of found) {
    if (after === undefined || !isKept(virtual)) continue
    for (let at = parentPath(virtual); isMade(known.get(at)) && !above.has(at); at = parentPath(at)) above.add(at)
  }
  return (path) => above.has(path) || isKept(path)
}

function isMade(difference: VisibleDifference | undefined): boolean {
  return difference?.after?.type === 'directory' && difference.before?.type !== 'directory'
}

function unchanged(path: VirtualPath): Error {
  return virtualError({
    code: 'EINVAL',
    operation: 'keep',
    path,
    reason: 'was not changed by the try, and nothing was kept or taken back',
    remedy: 'name paths of its `changes`',
  })
}
