import type { Facts } from '@ws/tree/disk'

import type { Pair } from '../tree.ts'
import type { Conflict } from './restore.ts'

export interface Plan {
  readonly unsaved: readonly Conflict[]
  readonly contents: ReadonlySet<string>
  /** The deepest first. */
  readonly removed: readonly { readonly path: string; readonly after: Facts }[]
  /** The highest first. */
  readonly created: readonly { readonly path: string; readonly before: Facts }[]
  /** `anew`: another entry replaces the old entry. Otherwise, only bits and times are set. */
  readonly changed: readonly {
    readonly path: string
    readonly before: Facts
    readonly after: Facts
    readonly anew: boolean
  }[]
  /** The deepest first. */
  readonly directories: readonly { readonly path: string; readonly before: Facts; readonly after: Facts | undefined }[]
}

export function depthOf(path: string): number {
  let depth = 0
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) depth += 1
  return path === '/' ? 0 : depth
}

/** @param discards whether files of today whose bytes were not saved may be lost */
export function planOf(pairs: readonly Pair[], discards = false): Plan {
  // such a file may hold the only copy of earlier bytes that were not saved
  const mayDiscard = discards && !pairs.some(({ before }) => before?.type === 'file' && before.content === undefined)
  const unsaved: Conflict[] = []
  const contents = new Set<string>()
  const removed: Plan['removed'][number][] = []
  const created: Plan['created'][number][] = []
  const changed: Plan['changed'][number][] = []
  const directories: Plan['directories'][number][] = []
  for (const { path, before, after } of pairs) {
    const reason = unsavedReason(before, after, mayDiscard)
    if (reason !== undefined) {
      unsaved.push({ path, reason })
      continue
    }
    const isKept = before !== undefined && after !== undefined && isDirectory(before) === isDirectory(after)
    if (before !== undefined && isDirectory(before))
      directories.push({ path, before, after: isKept ? after : undefined })
    if (isKept) {
      if (isDirectory(before)) continue
      const anew = isAnew(before, after)
      changed.push({ path, before, after, anew })
      if (anew && before.content !== undefined) contents.add(before.content)
      continue
    }
    if (after !== undefined) removed.push({ path, after })
    if (before === undefined) continue
    created.push({ path, before })
    if (before.content !== undefined) contents.add(before.content)
  }
  const deepest = (one: { path: string }, other: { path: string }): number => depthOf(other.path) - depthOf(one.path)
  removed.sort(deepest)
  created.sort((one, other) => deepest(other, one))
  directories.sort(deepest)
  return { unsaved, contents, removed, created, changed, directories }
}

function isDirectory({ type }: Facts): boolean {
  return type === 'directory'
}

function isAnew(before: Facts, after: Facts): boolean {
  return (
    before.type !== after.type ||
    before.content !== after.content ||
    before.target !== after.target ||
    // Keep a hard link whose inode only gained or lost other links; those links are handled on their own.
    (before.links === undefined ? after.links !== undefined && before.ino !== after.ino : before.links !== after.ino)
  )
}

function unsavedReason(before: Facts | undefined, after: Facts | undefined, mayDiscard: boolean): string | undefined {
  const wasLeftOut = before?.type === 'file' && before.content === undefined
  const isLeftOut = after?.type === 'file' && after.content === undefined
  if (wasLeftOut && isLeftOut && before.size === after.size && before.mtime === after.mtime) return undefined
  if (wasLeftOut) return 'its bytes were not saved then'
  return isLeftOut && !mayDiscard ? 'its bytes of today could not be saved, so this could not be undone' : undefined
}
