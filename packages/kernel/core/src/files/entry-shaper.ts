import type { Entry } from '../contract/file-types.ts'
import { baseName, joinPath, parentPath } from '../path/virtual-path.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import type { Context } from '../calls/context.ts'
import type { WorkspaceEntry } from '../contract/file-door.ts'
import { depthOf, mountsBelow } from './regions.ts'
import type { Region } from './regions.ts'
import { View } from '../mount/view.ts'

export class EntryShaper {
  /** True if no mount or rule lies below the start: entries then need only their virtual path. */
  readonly plain: boolean
  readonly #context: Context
  readonly #region: Region
  readonly #view: View
  readonly #ways: Set<VirtualPath>
  readonly #seen = new Set<VirtualPath>()
  readonly #deepest: number

  /** @param deepest the depth, by {@link depthOf}, below which entries are omitted */
  constructor(context: Context, region: Region, recursive: boolean, deepest = Number.POSITIVE_INFINITY) {
    this.#context = context
    this.#region = region
    this.#view = new View(context.gate, region.start, 'list')
    this.#ways = waysToMounts(context, region.start, recursive, deepest)
    this.#deepest = deepest
    this.plain = this.#view.plain && this.#ways.size === 0 && deepest === Number.POSITIVE_INFINITY
  }

  shape(entry: Entry): WorkspaceEntry | undefined {
    const at = this.#region.mount?.at ?? ('/' as VirtualPath)
    const path = joinPath(at, entry.path)
    if (this.plain && at !== '/') return moved(entry, path)
    if (this.#deepest < Number.POSITIVE_INFINITY && depthOf(path) > this.#deepest) return undefined
    const visibility = this.#view.visibility(path)
    if (visibility === 'hidden') return undefined
    if (this.#ways.size > 0 && this.#ways.has(path)) {
      this.#seen.add(path)
      return wayEntry(this.#context, path)
    }
    if (visibility === 'named') return { path, name: entry.name, type: entry.type }
    return at === '/' ? (entry as Entry & { path: never }) : moved(entry, path)
  }

  /** Returns directories that lead to mounts and that the adapter did not list. */
  unseen(): WorkspaceEntry[] {
    return [...this.#ways].filter((path) => !this.#seen.has(path)).map((path) => wayEntry(this.#context, path))
  }
}

/** Builds an entry without details. A spread would take longer than reading the entry. */
function moved(entry: Entry, path: VirtualPath): WorkspaceEntry {
  const { name, type, size, modifiedAt, mode, version, unreachable } = entry
  const isBare = (size ?? modifiedAt ?? mode ?? version ?? unreachable) === undefined
  return isBare ? { path, name, type } : { ...entry, path }
}

/** Returns paths to list because a mount lies at or below them, even if the adapter does not list these paths. */
function waysToMounts(context: Context, start: VirtualPath, recursive: boolean, deepest: number): Set<VirtualPath> {
  const ways = new Set<VirtualPath>()
  for (const nested of mountsBelow(context, start)) {
    const between: VirtualPath[] = []
    for (let current = nested; current !== start; current = parentPath(current)) between.unshift(current)
    for (const path of recursive ? between : between.slice(0, 1)) {
      if (depthOf(path) > deepest) break
      ways.add(path)
      if (context.gate.decide({ operation: 'list', path, need: 'read' }).effect === 'deny') break
    }
  }
  return ways
}

function wayEntry(context: Context, path: VirtualPath): WorkspaceEntry {
  const node = context.gate.namespace.find(path)
  const entry = { path, name: baseName(path), type: 'directory' } as const
  return node.mount?.at === path ? { ...entry, mount: true } : entry
}
