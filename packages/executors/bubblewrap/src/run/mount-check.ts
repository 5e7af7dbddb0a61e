import type { WorkspaceError, VirtualPath, RuleViolation } from '@ws/core'
import type { Owner } from '@ws/core/adapter'
import { execError, type HostPath } from '@ws/core/executor'
import { HostPaths, type Reserve } from '@ws/sandbox'

import type { SandboxCommand } from '../bwrap/arguments.ts'
import type { Child } from '../processes/first-process.ts'
import type { Layout, Placement } from '../view/layout.ts'
import { isStill, type MountedSource } from '../view/sources.ts'

type FileViolation = Exclude<RuleViolation, { readonly kind: 'refused' }>

type ExpectedMount = (placement: Placement) => MountedSource | undefined

/**
 * Compares the mounts with the plan: bubblewrap resolves destinations by name, which another program can redirect at the same time.
 * @param table `/proc/PID/mountinfo` as Latin-1 @returns the first misplaced placement
 */
export function findMisplaced(
  table: string,
  placements: readonly Placement[],
  expected: ExpectedMount,
): Placement | undefined {
  let visible = placements.length > fewPlaces ? visibleMounts(table) : undefined
  return placements.find((placement) => {
    const point = plainPath.test(placement.at) ? placement.at : Buffer.from(placement.at).toString('latin1')
    const entry = visible?.get(point) ?? onlyEntryAt(table, point) ?? (visible ??= visibleMounts(table)).get(point)
    return entry === undefined || !shows(entry, placement, expected)
  })
}

function visibleMounts(table: string): ReadonlyMap<string, HostPaths.MountEntry> {
  const entries = HostPaths.parseMountTable(table)
  const visible = new Map(entries.map((entry) => [entry.point, entry]))
  if (visible.size === entries.length) return visible
  const points = new Set(entries.filter((entry) => visible.get(entry.point) !== entry).map(({ point }) => point))
  const stacked = entries.filter(({ point }) => points.has(point))
  const byId = new Map(stacked.map((entry) => [entry.id, entry]))
  const covered = new Set(stacked.map(({ parent, point }) => byId.get(parent)?.point === point && byId.get(parent)))
  for (const entry of stacked) if (!covered.has(entry)) visible.set(entry.point, entry)
  return visible
}

/** Up to this number of paths are searched one by one. For more paths, parsing the whole table is faster. */
const fewPlaces = 100

const plainPath = /^[\w./-]+$/

/**
 * The mount at a path that exactly one line of the table names: no other mount covers the path. This is much faster than to parse
 * the table. `undefined`: the caller must parse the whole table.
 */
function onlyEntryAt(table: string, point: string): HostPaths.MountEntry | undefined {
  if (!plainPath.test(point)) return undefined
  const field = ` ${point} `
  const at = table.indexOf(field)
  if (at < 0 || table.includes(field, at + 1)) return undefined
  const end = table.indexOf('\n', at)
  const [entry] = HostPaths.parseMountTable(table.slice(table.lastIndexOf('\n', at) + 1, end < 0 ? table.length : end))
  return entry?.point === point ? entry : undefined
}

function shows(entry: HostPaths.MountEntry, placement: Placement, expected: ExpectedMount): boolean {
  if (placement.readOnly && !entry.readOnly) return false
  // bubblewrap made this mount only for this path.
  if (placement.show === 'system') return true
  if (placement.source === undefined) return entry.fileSystem === 'tmpfs'
  const wanted = expected(placement)
  return wanted !== undefined && wanted.device === entry.device && wanted.root === entry.root
}

/**
 * Prepares the comparison of a sandbox's mounts with its plan. Finds the expected mounts early, since the command waits.
 * At that time, only bubblewrap and the first process run, so the mounts do not change.
 * @returns the comparison, which throws `EBUSY` for a replaced mount, `ENOEXEC` for an unreadable table
 */
export function mountCheck({ layout, sources, reserved }: SandboxCommand): (child: Child) => void {
  const placements = layout.placements.filter(({ beneath }) => beneath !== undefined)
  if (placements.length === 0) return () => undefined
  const expected = new Map<unknown, MountedSource | undefined>()
  for (const placement of placements)
    if (placement.source !== undefined) expected.set(placement, sources.mounted(placement.source))
  return ({ pid }) => {
    let table: string
    try {
      table = HostPaths.readMountInfo(pid)
    } catch (native) {
      throw execError('ENOEXEC', 'the sandbox cannot be examined', { native })
    }
    const misplaced =
      findMisplaced(table, placements, (placement) => expected.get(placement)) ??
      placements.find(({ beneath = '' as HostPath }) => reserved.has(beneath) && !isStill(beneath, reserved))
    if (misplaced === undefined) return
    // The host's own mounts may have changed.
    HostPaths.doubtOwnMounts()
    throw exchanged({ path: misplaced.virtual })
  }
}

function exchanged(at: { readonly path: VirtualPath } | undefined): WorkspaceError {
  return execError('EBUSY', 'was exchanged while the sandbox was being built', {
    path: at?.path,
    remedy: 'run the command again when nothing changes the workspace',
  })
}

/** The reason why a sandbox was killed: a cover vanished, or the watch over the cover failed. */
interface Lost {
  readonly at: { readonly path: VirtualPath; readonly rule: string | undefined } | undefined
}

/** Watches the mounts over protected parts, and restores those that a host program removes. */
export interface MountWatch {
  /** Resolves when late covers are in place. @throws WorkspaceError `EBUSY` if that fails: the sandbox is ended */
  covered(): Promise<void>
  /** Checks the mounts a last time. `exposed` lists paths that were open to the command for a time. */
  end(): Promise<{ readonly lost: Lost | undefined; readonly exposed: readonly FileViolation[] }>
}

interface WatchOptions {
  readonly keeper: Reserve.NameKeeper
  readonly owner: Owner
  /** The first process of the sandbox. */
  readonly child: Child
  readonly layout: Layout
  /** Covers that are not in place yet. */
  readonly late?: ReadonlySet<Placement> | undefined
  /** `end` ends the sandbox when a cover is lost, even if it could be restored. */
  readonly onExposure?: 'cover' | 'end' | undefined
  readonly end: () => void
}

/** @throws WorkspaceError `EUNENFORCEABLE` where mounts cannot be watched */
export function watchMounts({
  keeper,
  owner,
  child,
  layout,
  late,
  onExposure,
  end,
}: WatchOptions): MountWatch | undefined {
  const watched = layout.placements.filter(({ beneath }) => beneath !== undefined)
  if (watched.length === 0) return undefined
  let lost: Lost | undefined
  const exposed = new Map<string, FileViolation>()
  const watch = keeper.watch({
    pid: child.pid,
    startTime: child.startTime ?? '',
    owner,
    ends: onExposure === 'end',
    aliases: layout.mode === 'direct' ? layout.aliases : [],
    covers: watched.map((placement) => ({
      point: placement.at,
      kind: kindOf(placement),
      isLate: late?.has(placement),
    })),
    onExposed(indices, microseconds) {
      // A path has a cover at each alias.
      const found = new Map(indices.map((index) => [watched[index]?.virtual, watched[index]?.rule]))
      for (const [virtual, rule] of found) {
        if (virtual === undefined || rule === undefined) continue
        const duration = Math.ceil(((exposed.get(virtual)?.duration ?? 0) + microseconds / 1000) * 10) / 10
        exposed.set(virtual, { rule, path: virtual, kind: 'exposed', ...(duration > 0 && { duration }) })
      }
    },
    onLost(index) {
      const placement = index === undefined ? undefined : watched[index]
      lost = { at: placement && { path: placement.virtual, rule: placement.rule } }
      end()
    },
  })
  return {
    async covered() {
      await watch.covered
      if (lost !== undefined) throw exchanged(lost.at)
    },
    async end() {
      await watch.end()
      return { lost, exposed: [...exposed.values()] }
    },
  }
}

function kindOf({ show, type, source, readOnly, beneath }: Placement): Reserve.WatchedCover['kind'] {
  if (show === 'mask') return type
  if (show === 'empty') return show
  // A lost cover of kind `other` is not restored, since its source cannot be opened again.
  if (show !== 'source' || source !== beneath) return 'other'
  return readOnly ? 'read-only' : 'writable'
}
