import type { Checkpoints } from '@ws/core/adapter'
import type { Database } from '@ws/tree/disk'

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
