import { type MountEntry, parseMountTable } from '@ws/process'

import type { Placement } from './layout.ts'
import type { MountedSource } from './sources.ts'

/** Where a placement's source is in its file system; `undefined` for a placement that shows nothing of the host. */
export type ExpectedMount = (placement: Placement) => MountedSource | undefined

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
  let visible: ReadonlyMap<string, MountEntry> | undefined
  return placements.find((placement) => {
    const point = Buffer.from(placement.at).toString('latin1')
    const entry = onlyEntryAt(table, point) ?? (visible ??= visibleMounts(table)).get(point)
    return entry === undefined || !shows(entry, placement, expected)
  })
}

/** The visible mount of each place: the last of several. */
function visibleMounts(table: string): ReadonlyMap<string, MountEntry> {
  const entries = parseMountTable(table)
  const covered = new Set<MountEntry>()
  const byId = new Map(entries.map((entry) => [entry.id, entry]))
  for (const entry of entries) {
    const parent = byId.get(entry.parent)
    if (parent !== undefined && parent.point === entry.point) covered.add(parent)
  }
  return new Map(entries.filter((entry) => !covered.has(entry)).map((entry) => [entry.point, entry]))
}

const plainPath = /^[\w./-]+$/

/**
 * The mount at a place that one line alone names, so that nothing there can cover it. The command waits for this, and
 * reading the whole table takes many times as long. `undefined` says nothing: look thoroughly.
 */
function onlyEntryAt(table: string, point: string): MountEntry | undefined {
  if (!plainPath.test(point)) return undefined
  const field = ` ${point} `
  const at = table.indexOf(field)
  if (at < 0 || table.includes(field, at + 1)) return undefined
  const end = table.indexOf('\n', at)
  const [entry] = parseMountTable(table.slice(table.lastIndexOf('\n', at) + 1, end < 0 ? table.length : end))
  return entry?.point === point ? entry : undefined
}

function shows(entry: MountEntry, placement: Placement, expected: ExpectedMount): boolean {
  if (placement.readOnly && !entry.readOnly) return false
  // Its own mount, made by bubblewrap for this place alone.
  if (placement.show === 'system') return true
  if (placement.source === undefined) return entry.fileSystem === 'tmpfs'
  const wanted = expected(placement)
  return wanted !== undefined && wanted.device === entry.device && wanted.root === entry.root
}
