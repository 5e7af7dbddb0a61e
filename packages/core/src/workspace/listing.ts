import type { StorageAdapter } from '../adapter/contract.ts'
import type { Entry, ListOptions } from '../adapter/types.ts'
import { baseName, isWithin, joinPath, parentPath, relativeTo } from '../path/virtual-path.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import { READ } from '../policy/access.ts'
import { admitCall, parseFor, recordFiles } from './context.ts'
import type { Context } from './context.ts'
import { translateError } from './errors.ts'
import type { WorkspaceEntry, WorkspaceListOptions } from './file-door.ts'
import type { Located } from './gate.ts'
import type { WorkspaceMount } from './mounts.ts'

import type { Trace } from './walk.ts'

/** A part of the tree that one adapter holds, opened for listing. */
interface Region {
  readonly start: VirtualPath
  readonly mount: WorkspaceMount | undefined
  readonly entries: AsyncIterator<Entry> | undefined
  readonly first: IteratorResult<Entry> | undefined
}

type Result = IteratorResult<WorkspaceEntry, undefined>

const end: Result = { done: true, value: undefined }

export function list(
  context: Context,
  path = '.',
  options: WorkspaceListOptions = {},
): AsyncIterableIterator<WorkspaceEntry, undefined> {
  return new Listing(context, path, options)
}

/**
 * A listing through one mount after the other. Written by hand: an async generator would cost more for each entry than
 * the adapter does. Where nothing below the directory is special, the adapter's own iterator is passed on.
 */
class Listing implements AsyncIterableIterator<WorkspaceEntry, undefined> {
  readonly #context: Context
  readonly #path: string
  readonly #options: WorkspaceListOptions
  #excluded: readonly VirtualPath[] = []
  #opening: Promise<unknown> | undefined
  #region: Region | undefined
  #shape: EntryShaper | undefined
  /** Entries that no adapter gave, and mounts still to be listed. */
  #rest: WorkspaceEntry[] = []
  #mounts: VirtualPath[] = []
  #done = false

  constructor(context: Context, path: string, options: WorkspaceListOptions) {
    this.#context = context
    this.#path = path
    this.#options = options
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<Result> {
    if (this.#done) return Promise.resolve(end)
    if (this.#region === undefined) return this.#start()
    const { entries } = this.#region
    if (entries === undefined) return this.#afterRegion()
    if (this.#shape === undefined) return entries.next() as Promise<Result>
    return this.#pull(entries)
  }

  async return(): Promise<Result> {
    this.#done = true
    await this.#region?.entries?.return?.()
    return end
  }

  async #start(): Promise<Result> {
    if (this.#opening !== undefined) {
      // Somebody asks for several entries at once: they come in order.
      await this.#opening
      return this.next()
    }
    const opening = this.#open()
    this.#opening = opening.catch(() => undefined)
    return opening
  }

  async #open(): Promise<Result> {
    const context = this.#context
    const { signal } = this.#options
    const options = { operation: 'list', path: this.#path, signal } as const
    const trace: Trace = {}
    const time = Date.now()
    const start = performance.now()
    try {
      admitCall(context, 'list', signal)
      const parsed = parseFor(context, 'list', this.#path)
      this.#excluded = (this.#options.exclude ?? [])
        .map((given) => parseFor(context, 'list', given).path)
        .filter((given) => typeof given === 'string')
      const region = await context.walker.run(
        { operation: 'list', need: 'read', followLast: true, signal, trace },
        parsed.path,
        async (located, adapter) => openRegion(context, located, adapter, this.#excluded, this.#options),
      )
      if (context.audit.active) recordFiles(context, options, { time, start, trace, error: undefined })
      return await this.#enter(region)
    } catch (error) {
      this.#done = true
      if (context.audit.active) recordFiles(context, options, { time, start, trace, error })
      throw error
    }
  }

  async #enter(region: Region): Promise<Result> {
    const recursive = this.#options.recursive === true
    const shape = new EntryShaper(this.#context, region, recursive)
    this.#region = region
    // Nested mounts come last; a plain region ends the listing, so the adapter's iterator can end it by itself.
    this.#shape = shape.plain && this.#mounts.length === 0 && region.mount?.at === '/' ? undefined : shape
    if (recursive) {
      const below = mountsBelow(this.#context, region.start)
      this.#mounts.unshift(...below.filter((nested) => this.#isWanted(region.start, nested)))
    }
    if (region.first === undefined) return this.#afterRegion()
    if (this.#shape === undefined) return region.first as Result
    return this.#take(region.first)
  }

  #isWanted(start: VirtualPath, nested: VirtualPath): boolean {
    return !this.#excluded.some((path) => isWithin(nested, path)) && mayEnter(this.#context, start, nested)
  }

  #pull(entries: AsyncIterator<Entry>): Promise<Result> {
    return entries.next().then(
      (result) => this.#take(result),
      (error: unknown) => {
        this.#done = true
        throw translateError(error, {
          operation: 'list',
          at: this.#region?.mount?.at,
          path: this.#region?.start ?? ('/' as VirtualPath),
          signal: this.#options.signal,
        })
      },
    )
  }

  #take(result: IteratorResult<Entry>): Result | Promise<Result> {
    if (result.done === true) return this.#afterRegion()
    const value = this.#shape?.shape(result.value)
    if (value !== undefined) return { done: false, value }
    const entries = this.#region?.entries
    return entries === undefined ? this.#afterRegion() : this.#pull(entries)
  }

  async #afterRegion(): Promise<Result> {
    if (this.#region !== undefined && this.#shape !== undefined) {
      this.#rest.push(...this.#shape.unseen())
      this.#region = { ...this.#region, entries: undefined }
      this.#shape = undefined
    }
    const value = this.#rest.shift()
    if (value !== undefined) return { done: false, value }
    const nested = this.#mounts.shift()
    if (nested === undefined) {
      this.#done = true
      return end
    }
    const located = this.#context.gate.admit('list', nested, 'read')
    const adapter = located.mount === undefined ? undefined : await this.#context.open(located.mount)
    return this.#enter(await openRegion(this.#context, located, adapter, this.#excluded, this.#options))
  }
}

async function openRegion(
  context: Context,
  located: Located,
  adapter: StorageAdapter | undefined,
  excluded: readonly VirtualPath[],
  { recursive, details, signal }: WorkspaceListOptions,
): Promise<Region> {
  const { virtual, mount } = located
  if (adapter === undefined || mount === undefined) {
    return { start: virtual, mount: undefined, entries: undefined, first: undefined }
  }
  const exclude = recursive === true ? skippedIn(context, virtual, mount, excluded) : []
  const listOptions: ListOptions = { recursive, details, signal, exclude }
  const entries = adapter.list(located.path, listOptions)
  return { start: virtual, mount, entries, first: await entries.next() }
}

/** Turns the entries of one adapter into those that callers see. */
class EntryShaper {
  /** Nothing below is special, so entries differ in their path at most. */
  readonly plain: boolean
  readonly #context: Context
  readonly #region: Region
  readonly #ways: Set<VirtualPath>
  readonly #seen = new Set<VirtualPath>()
  readonly #special: ReadonlySet<string>
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
    this.plain = this.#special.size === 0 && this.#ways.size === 0 && !gate.hasVariants
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
    if (gate.hasVariants && gate.isVariant(path, entry.name)) {
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

/** Subtrees that an adapter must not enter: denied ones, excluded ones, and those that another mount hides. */
export function skippedIn(
  context: Context,
  start: VirtualPath,
  mount: WorkspaceMount,
  excluded: readonly VirtualPath[],
): ReturnType<typeof relativeTo>[] {
  const { gate } = context
  const skipped = [...gate.unreadableBelow(start), ...excluded, ...gate.reservedBelow(start)]
  for (const node of gate.namespace.below(start)) {
    if (node.mount?.at === node.path) skipped.push(node.path)
  }
  return skipped
    .filter((path) => path !== start && isWithin(path, start) && isWithin(path, mount.at))
    .map((path) => relativeTo(path, mount.at))
}

/** Mounts below `start` with no other mount in between, scratch left out. */
export function mountsBelow(context: Context, start: VirtualPath): VirtualPath[] {
  const found: VirtualPath[] = []
  for (const node of context.gate.namespace.below(start)) {
    if (node.mount === undefined || node.mount.at !== node.path || node.mount.scratch) continue
    if (!found.some((path) => isWithin(node.path, path))) found.push(node.path)
  }
  return found
}

/** Every directory on the way may be read. */
export function mayEnter(context: Context, start: VirtualPath, path: VirtualPath): boolean {
  for (let current = path; current !== start; current = parentPath(current)) {
    if (context.gate.decide({ operation: 'list', path: current, need: 'read' }).effect === 'deny') return false
    if (current === '/') break
  }
  return true
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
