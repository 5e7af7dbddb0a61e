import { isWithin, parentPath } from '../path/virtual-path.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import { virtualError } from '../mount/errors.ts'
import type { Change } from '../contract/checkpoints.ts'
import type { VisibleDifference } from './visible.ts'

/** Groups several paths that are one change: both ends of a move, and the hard links of a file. */
export function unitsOf(
  changes: readonly Change[],
  found: readonly VisibleDifference[],
): readonly (readonly VirtualPath[])[] {
  const links = Map.groupBy(found, ({ mount, after }) =>
    after?.type === 'file' && after.identity !== undefined ? `${mount} ${after.identity}` : undefined,
  )
  links.delete(undefined)
  const all = [
    ...changes.map(namesOf),
    ...replacingMoves(found),
    ...[...links.values()].map((group) => group.map(({ virtual }) => virtual)),
  ]
  return all.filter((names) => names.length > 1)
}

/** Both paths of each move over another entry. `changes` lists them apart. */
function replacingMoves(found: readonly VisibleDifference[]): VirtualPath[][] {
  const gone = new Map<string, VirtualPath>()
  for (const { virtual, mount, before, after } of found)
    if (before?.identity !== undefined && after === undefined) gone.set(`${mount} ${before.identity}`, virtual)
  return found.flatMap(({ virtual, mount, before, after }) => {
    const isReplaced = before !== undefined && before.identity !== after?.identity
    const from = isReplaced ? gone.get(`${mount} ${after?.identity}`) : undefined
    return from === undefined ? [] : [[virtual, from]]
  })
}

function namesOf({ path, from }: Change): VirtualPath[] {
  return from === undefined ? [path] : [path, from]
}

/**
 * Returns whether a path is among those to keep: at or below `paths`, another part of the same change, or a directory that was made above.
 * @throws WorkspaceError `EINVAL` for a path without a change
 */
export function isOneOf(
  paths: readonly VirtualPath[],
  changes: readonly Change[],
  found: readonly VisibleDifference[],
  operation: 'keep' | 'merge',
): (path: VirtualPath) => boolean {
  for (const path of paths)
    if (!changes.some((change) => namesOf(change).some((name) => isWithin(name, path))))
      throw unchanged(operation, path)
  const all = unitsOf(changes, found)
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

function unchanged(operation: 'keep' | 'merge', path: VirtualPath): Error {
  const by = operation === 'keep' ? 'try, and nothing was kept or taken back' : 'fork, and nothing was merged'
  return virtualError({
    code: 'EINVAL',
    operation,
    path,
    reason: `was not changed by the ${by}`,
    remedy: 'name paths of its `changes`',
  })
}
