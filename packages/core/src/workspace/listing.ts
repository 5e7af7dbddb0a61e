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

export async function* list(
  context: Context,
  path = '.',
  options: WorkspaceListOptions = {},
): AsyncGenerator<WorkspaceEntry, void, undefined> {
  const operation = 'list'
  const { signal } = options
  const trace: Trace = {}
  const time = Date.now()
  const start = performance.now()
  let failure: unknown
  try {
    admitCall(context, operation, signal)
    const parsed = parseFor(context, operation, path)
    const excluded = (options.exclude ?? []).map((given) => parseFor(context, operation, given).path).filter((given) => typeof given === 'string')
    const region = await context.walker.run(
      { operation, need: 'read', followLast: true, signal, trace },
      parsed.path,
      async (located, adapter) => openRegion(context, located, adapter, excluded, options),
    )
    yield* listRegion(context, region, excluded, options)
  } catch (error) {
    failure = error
    throw error
  } finally {
    if (context.audit.active) recordFiles(context, { operation, path }, { time, start, trace, error: failure })
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

async function* listRegion(
  context: Context,
  region: Region,
  excluded: readonly VirtualPath[],
  options: WorkspaceListOptions,
): AsyncGenerator<WorkspaceEntry, void, undefined> {
  const { gate } = context
  const { start, mount } = region
  const recursive = options.recursive === true
  const ways = waysToMounts(context, start, recursive)
  const seen = new Set<VirtualPath>()

  if (region.entries !== undefined && mount !== undefined) {
    const { entries } = region
    let result = region.first ?? (await entries.next())
    try {
      while (result.done !== true) {
        const entry = result.value
        const virtual = joinPath(mount.at, entry.path)
        if (!gate.isHidden(virtual, start)) {
          if (ways.has(virtual)) {
            seen.add(virtual)
            yield wayEntry(context, virtual)
          } else if (gate.cannotStat(virtual)) yield { path: virtual, name: entry.name, type: entry.type }
          else yield mount.at === '/' ? (entry as Entry & { path: never }) : { ...entry, path: virtual }
        }
        result = await entries.next()
      }
    } catch (error) {
      throw translateError(error, { operation: 'list', at: mount.at, path: start, signal: options.signal })
    } finally {
      if (result.done !== true) await entries.return?.()
    }
  }
  for (const virtual of ways) {
    if (!seen.has(virtual)) yield wayEntry(context, virtual)
  }
  if (!recursive) return
  for (const nested of mountsBelow(context, start)) {
    if (excluded.some((path) => isWithin(nested, path)) || !mayEnter(context, start, nested)) continue
    const located = gate.admit('list', nested, 'read')
    const adapter = located.mount === undefined ? undefined : await context.open(located.mount)
    const inner = await openRegion(context, located, adapter, excluded, options)
    yield* listRegion(context, inner, excluded, options)
  }
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

