import type { FileDoor, WorkspaceEntry } from '@ws/core'
import type { SignalOption } from '@ws/core/adapter'

import type { Facts, ListedEntry } from '@ws/shell-tools'
import { toFsStat } from './describe.ts'

interface DirectoryOptions extends SignalOption {
  readonly details?: boolean
  readonly leftOut: Set<string>
}

/** Yields entries with a valid path: a name such as `..` would make a walk leave the directory. */
export async function* reachable(
  door: FileDoor,
  path: string,
  { leftOut, ...options }: DirectoryOptions,
): AsyncGenerator<WorkspaceEntry> {
  for await (const entry of door.list(path, options)) {
    if (entry.unreachable === true) leftOut.add(entry.path)
    else yield entry
  }
}

/** Limit of entries without a path that are named in a message. */
const mostNamed = 10

export function leftOutMessage(paths: ReadonlySet<string>): string | undefined {
  if (paths.size === 0) return undefined
  const named = [...paths].slice(0, mostNamed).map((path) => JSON.stringify(path))
  const more = paths.size > mostNamed ? ` and ${paths.size - mostNamed} more` : ''
  return `left out, since no path can name them: ${named.join(', ')}${more}`
}

export async function listDirectory(
  door: FileDoor,
  path: string,
  facts: Facts,
  options: DirectoryOptions,
): Promise<ListedEntry[]> {
  const listed: ListedEntry[] = []
  for await (const entry of reachable(door, path, { ...options, details: facts === 'all' })) {
    // this store reports sizes only with all other details
    if (facts === 'size' && entry.type === 'file' && entry.size === undefined)
      return listDirectory(door, path, 'all', options)
    listed.push(shape(entry, facts))
  }
  return listed.sort((left, right) => (left.name < right.name ? -1 : 1))
}

function shape(entry: WorkspaceEntry, facts: Facts): ListedEntry {
  const { name, type, size, mode, modifiedAt, version, target } = entry
  // A listing contains only the type of a denied entry or a mount.
  if (facts === 'all' && version === undefined) return { name }
  return { name, stat: toFsStat({ type, size: size ?? Number.NaN, mode, modifiedAt, version: version ?? '' }), target }
}
