import type { Checkpoints } from '@ws/core/adapter'
import { type Database, failed } from '@ws/tree/disk'

interface HoldRow {
  readonly tree: number
  readonly since: string
  readonly until: string
}

export function hold(database: Database, trees: readonly number[], held: Checkpoints.Held | undefined): void {
  database.transaction(() => {
    for (const tree of trees) {
      if (held === undefined) database.run('DELETE FROM holds WHERE tree = ?', tree)
      else database.run('INSERT OR REPLACE INTO holds VALUES (?,?,?)', tree, held.since, held.until ?? '')
    }
  })
}

/** The checkpoints of a try that a process left open. @throws WorkspaceError `EBUSY` if the try had other trees too */
export function heldOf(database: Database, trees: readonly number[]): Checkpoints.Held | undefined {
  const rows = database.all<HoldRow>('SELECT * FROM holds')
  const [first] = rows.filter(({ tree }) => trees.includes(tree))
  if (first === undefined) return undefined
  const own = rows.filter(({ since }) => since === first.since).map(({ tree }) => tree)
  if (own.length === trees.length && own.every((tree) => trees.includes(tree)))
    return { since: first.since, until: first.until || undefined }
  throw failed(
    'EBUSY',
    'an earlier process ended while a try was open, in a workspace with other mounts',
    'make that workspace once, which takes the try back; or keep its files, and delete the state directory',
  )
}
