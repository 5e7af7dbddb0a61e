import { isWithin } from '../path/virtual-path.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import { virtualError } from '../mount/errors.ts'
import type { SavedCheckpoint } from '../contract/checkpoint-engine.ts'
import type { VisibleDifference } from './visible.ts'

export const longestLabel = 200

/** Selects the entries at these paths and below them; without paths, all entries. */
export function within(
  paths: readonly VirtualPath[] | undefined,
  found: readonly VisibleDifference[],
): readonly VisibleDifference[] {
  if (paths === undefined) return found
  return found.filter(({ virtual }) => paths.some((path) => isWithin(virtual, path)))
}

export function missingAbove(
  chosen: readonly VisibleDifference[],
  found: readonly VisibleDifference[],
): readonly VisibleDifference[] {
  const isMissing = ({ before, after }: VisibleDifference): boolean =>
    before?.type === 'directory' && after?.type !== 'directory'
  const known = new Set(chosen)
  return found.filter(
    (above) =>
      isMissing(above) &&
      !known.has(above) &&
      chosen.some(({ virtual, before }) => before !== undefined && isWithin(virtual, above.virtual)),
  )
}

/** Returns the latest checkpoint. An engine skips an automatic checkpoint only if the latest checkpoint is equal to the current state. */
export function latestOf(checkpoints: readonly SavedCheckpoint[]): SavedCheckpoint {
  const latest = checkpoints.at(-1)
  if (latest === undefined) throw new Error('a checkpoint was left out, and there is none before it')
  return latest
}

/** Refuses a range that does not begin with a named checkpoint at or before its end. The engine reports unknown checkpoints. */
export function checkOrder(
  operation: string,
  checkpoints: readonly SavedCheckpoint[],
  since: string | undefined,
  until: string,
): void {
  const [begin, end] = [since, until].map((id) => checkpoints.findIndex((checkpoint) => checkpoint.id === id))
  if (since !== undefined && (begin === -1 || end === -1 || (begin ?? 0) <= (end ?? 0))) return
  throw virtualError({
    code: 'EINVAL',
    operation,
    reason: since === undefined ? '`until` is given without `since`' : '`until` is older than `since`',
    remedy: 'name the older checkpoint as `since`, and the younger one as `until`',
  })
}

export function withoutEngine(operation: string): Error {
  return virtualError({
    code: 'ENOTSUP',
    operation,
    reason: 'the workspace keeps no earlier states',
    remedy: 'pass `checkpoints: createCheckpoints({ stateDirectory })` of `@ws/snapshots` to `createWorkspace`',
  })
}

export function invalidId(): Error {
  return virtualError({
    code: 'EINVAL',
    operation: 'restore',
    reason: 'the checkpoint is not named',
    remedy: 'pass the `id` of one of `checkpoints()`',
  })
}
