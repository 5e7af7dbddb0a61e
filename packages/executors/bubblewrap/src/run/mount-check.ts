import type { FileViolation, WorkspaceError, VirtualPath } from '@ws/core'
import type { Owner } from '@ws/core/adapter'
import { execError, type HostPath } from '@ws/core/executor'
import { HostPaths, type Reserve } from '@ws/sandbox'

import type { SandboxCommand } from '../bwrap/arguments.ts'
import type { Child } from '../processes/first-process.ts'
import type { Layout, Placement } from '../view/layout.ts'
import { isStill, type MountedSource } from '../view/sources.ts'

/** Where a placement's source is in its file system; `undefined` for a placement that shows nothing of the host. */
type ExpectedMount = (placement: Placement) => MountedSource | undefined

/**
 * Compares the mounts with the request: bubblewrap finds destinations by name, and a program that can rename in the
 * workspace meanwhile could lead one elsewhere.
 *
 * @param table the text of `/proc/PID/mountinfo`, as Latin-1
 * @returns the first placement that is not where it must be, or `undefined` when all are
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

/** The visible mount of each place: the last of several. */
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

/** Looking for more than that takes longer than reading the whole table. */
const fewPlaces = 100

const plainPath = /^[\w./-]+$/

/**
 * The mount at a place that one line alone names, so that nothing there can cover it. The command waits for this, and
 * reading the whole table takes many times as long. `undefined` says nothing: look thoroughly.
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
  // Its own mount, made by bubblewrap for this place alone.
  if (placement.show === 'system') return true
  if (placement.source === undefined) return entry.fileSystem === 'tmpfs'
  const wanted = expected(placement)
  return wanted !== undefined && wanted.device === entry.device && wanted.root === entry.root
}

/**
 * Compares the mounts of a sandbox with its plan.
 *
 * The expected mounts are found beforehand, since the command waits for the comparison. Only bubblewrap and the first process
 * run when it is made, so the mounts stay as they are then.
 *
 * @returns what compares: it throws `EBUSY` for what was exchanged, `ENOEXEC` where nothing can be read
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
    // It may have been the host's own mounts that changed.
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

/** The sandbox was killed: the cover of a path is gone, or nothing watches it any more. */
interface Lost {
  readonly at: { readonly path: VirtualPath; readonly rule: string | undefined } | undefined
}

/** Watches what lies over protected parts while a command runs, and puts it back where a program of the host took it away. */
export interface MountWatch {
  /**
   * Resolves when what was late is there.
   *
   * @throws WorkspaceError `EBUSY` where that cannot be: the sandbox is ended
   */
  covered(): Promise<void>
  /** Looks a last time. @returns with paths that were open to the command for a time */
  end(): Promise<{ readonly lost: Lost | undefined; readonly exposed: readonly FileViolation[] }>
}

interface WatchOptions {
  readonly keeper: Reserve.NameKeeper
  readonly owner: Owner
  /** The first process of the sandbox. */
  readonly child: Child
  readonly layout: Layout
  /** Not there yet. */
  readonly late?: ReadonlySet<Placement> | undefined
  /** Ends the sandbox where a cover is lost, whether or not it could be put back. */
  readonly onExposure?: 'cover' | 'end' | undefined
  /** Ends the sandbox. */
  readonly end: () => void
}

/** @throws WorkspaceError `EUNENFORCEABLE` where nothing can be watched */
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
  // Another directory than that at its place cannot be had again from there.
  if (show !== 'source' || source !== beneath) return 'other'
  return readOnly ? 'read-only' : 'writable'
}
