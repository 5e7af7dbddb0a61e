import type { MountPath } from '../path/virtual-path.ts'
import type { EntryNote } from '../contract/file-types.ts'

export function mapNotes<Path>(
  notes: readonly EntryNote[] | void,
  toOuter: (path: MountPath) => Path | undefined,
): EntryNote<Path>[] {
  return (notes ?? []).flatMap((note) => {
    const path = toOuter(note.path)
    const kept = note.kept === undefined ? undefined : toOuter(note.kept)
    return path === undefined ? [] : [{ path, reason: note.reason, ...(kept !== undefined && { kept }) }]
  })
}
