import type { Placement } from './layout.ts'
import type { OpenedSources } from './sources.ts'

/** One line of `/proc/PID/mountinfo`. Paths hold their bytes as Latin-1, since names need not be UTF-8. */
export interface MountEntry {
  readonly id: string
  readonly parent: string
  /** `major:minor` */
  readonly device: string
  /** What of the file system is mounted. */
  readonly root: string
  readonly point: string
  readonly readOnly: boolean
  readonly fileSystem: string
}

export function parseMountTable(text: string): MountEntry[] {
  return text.split('\n').flatMap((line) => {
    const [left, right] = line.split(' - ')
    const [id, parent, device, root, point, options] = left?.split(' ') ?? []
    if (id === undefined || parent === undefined || device === undefined || root === undefined) return []
    if (point === undefined || options === undefined) return []
    const fileSystem = right?.split(' ')[0] ?? ''
    const readOnly = options.split(',').includes('ro')
    return [{ id, parent, device, root: unescape(root), point: unescape(point), readOnly, fileSystem }]
  })
}

function unescape(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))
}

/**
 * Compares what was mounted with what was asked for: bubblewrap finds destinations by name, and who can rename in the
 * workspace meanwhile could lead one elsewhere.
 *
 * @returns the first placement that is not where it must be, or `undefined` when all are
 */
export function findMisplaced(
  table: readonly MountEntry[],
  placements: readonly Placement[],
  sources: Pick<OpenedSources, 'mounted'>,
): Placement | undefined {
  const covered = new Set<MountEntry>()
  const byId = new Map(table.map((entry) => [entry.id, entry]))
  for (const entry of table) {
    const parent = byId.get(entry.parent)
    if (parent !== undefined && parent.point === entry.point) covered.add(parent)
  }
  const visible = new Map(table.filter((entry) => !covered.has(entry)).map((entry) => [entry.point, entry]))
  return placements.find((placement) => {
    const entry = visible.get(Buffer.from(placement.at).toString('latin1'))
    return entry === undefined || !shows(entry, placement, sources)
  })
}

function shows(entry: MountEntry, placement: Placement, sources: Pick<OpenedSources, 'mounted'>): boolean {
  if (placement.readOnly && !entry.readOnly) return false
  if (placement.source === undefined) return entry.fileSystem === 'tmpfs'
  const expected = sources.mounted(placement.source)
  return expected !== undefined && expected.device === entry.device && expected.root === entry.root
}
