import type { Checkpoints } from '@ws/core/adapter'
import { type Database, failed } from '@ws/tree/disk'

interface CheckpointRow {
  readonly id: string
  readonly tree: number
  readonly turn: number
  readonly label: string | null
  readonly created: number
  readonly automatic: number
}

/** The checkpoints that cover all trees, the oldest first. */
export function listOf(database: Database, trees: readonly number[]): Checkpoints.Saved[] {
  const rows = trees.map((tree) =>
    database.all<CheckpointRow>('SELECT * FROM checkpoints WHERE tree = ? ORDER BY created, turn, id', tree),
  )
  const [first = [], ...others] = rows
  const known = others.map((list) => new Set(list.map(({ id }) => id)))
  return first
    .filter(({ id }) => known.every((ids) => ids.has(id)))
    .map(({ id, label, created, automatic }) => ({
      id,
      label: label ?? undefined,
      createdAt: created,
      automatic: automatic !== 0,
    }))
}

/** The turn of a checkpoint in a tree. @throws WorkspaceError `ENOENT`; `EINVAL` for a checkpoint of other trees */
export function turnOf(database: Database, tree: number, id: string): number {
  const row = database.get<{ turn: number }>('SELECT turn FROM checkpoints WHERE id = ? AND tree = ?', id, tree)
  if (row !== undefined) return row.turn
  const other = database.get('SELECT 1 FROM checkpoints WHERE id = ?', id)
  throw other === undefined
    ? failed(
        'ENOENT',
        'there is no such checkpoint: it was never taken, or made room for others',
        'look at `checkpoints()`',
      )
    : failed('EINVAL', 'the checkpoint is one of another workspace', 'take one of those that `checkpoints()` gives')
}
