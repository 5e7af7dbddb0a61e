import type { FileDoor, WorkspaceEntry } from '@ws/core'

import type { Facts, ListedEntry } from '@ws/shell-tools'
import { describe } from './describe.ts'

/** The entries of a directory with their facts, sorted by name, by one listing. */
export async function listDirectory(
  door: FileDoor,
  path: string,
  facts: Facts,
  options: { readonly signal?: AbortSignal | undefined },
): Promise<ListedEntry[]> {
  const listed: ListedEntry[] = []
  for await (const entry of door.list(path, { ...options, details: facts === 'all' })) {
    // this store has sizes with the other details only
    if (facts === 'size' && entry.type === 'file' && entry.size === undefined)
      return listDirectory(door, path, 'all', options)
    listed.push(shape(entry, facts))
  }
  return listed.sort((left, right) => (left.name < right.name ? -1 : 1))
}

function shape(entry: WorkspaceEntry, facts: Facts): ListedEntry {
  const { name, type, size, mode, modifiedAt, version, target, unreachable } = entry
  // The listing has only the type of a denied entry and of a mount. No path names an unreachable entry.
  if (unreachable === true || (facts === 'all' && version === undefined)) return { name }
  return { name, stat: describe({ type, size: size ?? Number.NaN, mode, modifiedAt, version: version ?? '' }), target }
}
