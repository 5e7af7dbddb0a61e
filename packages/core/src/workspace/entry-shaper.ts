import type { Entry } from '../adapter/types.ts'
import { baseName, isWithin, joinPath, parentPath } from '../path/virtual-path.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import { READ } from '../policy/access.ts'
import type { Context } from './context.ts'
import type { WorkspaceEntry } from './file-door.ts'
import { mountsBelow } from './regions.ts'
import type { Region } from './regions.ts'

/** Turns the entries of one adapter into those that callers see. */
export class EntryShaper {
  /** Nothing below is special, so entries differ in their path at most. */
  readonly plain: boolean
  readonly #context: Context
  readonly #region: Region
  readonly #ways: Set<VirtualPath>
  readonly #seen = new Set<VirtualPath>()
  readonly #special: ReadonlySet<string>
  /** An entry below may be a variant of a denied name. Most directories lead to none: found out once, not per entry. */
  readonly #mayVary: boolean
  /** Directories that are variants of a denied name: what comes from below them is left out. */
  readonly #shut: VirtualPath[] = []

  constructor(context: Context, region: Region, recursive: boolean) {
    const { gate } = context
    const { start, mount } = region
    this.#context = context
    this.#region = region
    this.#ways = waysToMounts(context, start, recursive)
    this.#special = new Set([...gate.namespace.below(start)].map((node) => node.path))
    const folds = mount?.caseSensitive === false && this.#special.size > 0
    this.#mayVary = gate.mayHoldVariants(start)
    this.plain = this.#special.size === 0 && this.#ways.size === 0 && !this.#mayVary
    this.#judge = folds ? () => true : (path) => this.#special.has(path)
  }

  /** Whether mounts or rules name this path. */
  readonly #judge: (path: VirtualPath) => boolean

  shape(entry: Entry): WorkspaceEntry | undefined {
    const at = this.#region.mount?.at ?? ('/' as VirtualPath)
    const path = joinPath(at, entry.path)
    const { gate } = this.#context
    if (this.#shut.length > 0 && this.#shut.some((directory) => isWithin(path, directory))) return undefined
    if (this.#special.size > 0 && this.#judge(path)) {
      if (gate.isHidden(path, this.#region.start)) return undefined
      if (this.#ways.has(path)) {
        this.#seen.add(path)
        return wayEntry(this.#context, path)
      }
      if (gate.cannotStat(path)) return { path, name: entry.name, type: entry.type }
    }
    if (this.#mayVary && gate.isVariant(path, entry.name)) {
      this.#shut.push(path)
      return { path, name: entry.name, type: entry.type }
    }
    return at === '/' ? (entry as Entry & { path: never }) : { ...entry, path }
  }

  /** Directories that lead to mounts, and that the adapter did not list. */
  unseen(): WorkspaceEntry[] {
    return [...this.#ways].filter((path) => !this.#seen.has(path)).map((path) => wayEntry(this.#context, path))
  }
}

/** Paths to list because a mount lies at or below them, whatever the adapter says. */
function waysToMounts(context: Context, start: VirtualPath, recursive: boolean): Set<VirtualPath> {
  const ways = new Set<VirtualPath>()
  for (const nested of mountsBelow(context, start)) {
    const between: VirtualPath[] = []
    for (let current = nested; current !== start; current = parentPath(current)) between.unshift(current)
    for (const path of recursive ? between : between.slice(0, 1)) {
      ways.add(path)
      if ((context.gate.namespace.find(path).rights & READ) === 0) break
    }
  }
  return ways
}

function wayEntry(context: Context, path: VirtualPath): WorkspaceEntry {
  const node = context.gate.namespace.find(path)
  const entry = { path, name: baseName(path), type: 'directory' } as const
  return node.mount?.at === path ? { ...entry, mount: true } : entry
}
