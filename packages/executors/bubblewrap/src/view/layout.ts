import type { VirtualPath, WorkspaceError } from '@ws/core'
import { execError, type Bind, type BindPlan, type HostPath } from '@ws/core/executor'

/** The tree that proot makes `/`. The view outside shows nothing more. Masks and read-only parts over the tree are real mounts. */
export const translatedRoot = '/.ws'
/** The workspace's `/tmp`, beside the translated tree: so it needs no mount point on the disk [RP18]. */
export const translatedTemporary = '/.tmp'
export const temporary = '/tmp'

/** A bind of the plan, and its path in bubblewrap's tree. */
export interface Placement {
  readonly at: string
  readonly virtual: VirtualPath
  readonly rule?: string | undefined
  /**
   * `empty`: a readable empty directory for a missing name. `system`: parts of the machine, over a reserved name. `again`: the whole tree,
   * at an alias.
   */
  readonly show: 'source' | 'mask' | 'empty' | 'closed' | 'system' | 'again'
  readonly type: 'directory' | 'file'
  readonly source?: HostPath | undefined
  readonly readOnly: boolean
  /** The host path under this mount, which must exist: otherwise bubblewrap would create it. Absent: there is no host path. */
  readonly beneath?: HostPath | undefined
  /** For a warm command: the path in the supervisor's tree to mount here. Absent: the entry at this path itself. */
  readonly from?: string | undefined
}

/**
 * - `below`: all mounts lie below directories such as `/workspace`, in a root that bubblewrap makes.
 * - `direct`: the workspace's directory is the root; system directories lie over reserved names.
 * - `translated`: a mount is at `/`, and proot makes the workspace's tree the root.
 */
export type LayoutMode = 'below' | 'direct' | 'translated'

export interface Layout {
  readonly mode: LayoutMode
  /** Parents before children, alias by alias. */
  readonly placements: readonly Placement[]
  readonly aliases: readonly VirtualPath[]
  /** True if the plan has a `/tmp` of its own. */
  readonly hasTemporary: boolean
}

/** True if a mount is at `/`: the root can then have several forms. */
export function isAtRoot({ binds }: Pick<BindPlan, 'binds'>): boolean {
  return binds.some(({ at }) => at === '/')
}

/**
 * Computes the placements of a plan. @param systemNames for `direct`: top-level names of the system that commands see
 * @throws WorkspaceError `EUNENFORCEABLE` for a bind without a source, or an alias that proot cannot take
 */
export function layOut(plan: BindPlan, mode: LayoutMode, systemNames: readonly string[] = []): Layout {
  const { aliases } = plan
  const hasTemporary = plan.binds.some(({ at }) => at === temporary)
  const prefixes = mode === 'below' ? ['', ...aliases] : ['']
  const place = mode === 'translated' ? placeTranslated : (path: string) => path
  const placements = prefixes.flatMap((prefix) => {
    const own: Placement[] = []
    const last = new Map<string, Placement>()
    const add = (placement: Placement) => {
      own.push(placement)
      last.set(placement.at, placement)
    }
    for (const bind of plan.binds) {
      add(placed(bind, below(prefix, place(bind.at)), last))
      if (mode === 'direct' && bind.at === '/') for (const one of systemPlacements(bind, systemNames)) add(one)
    }
    return own
  })
  if (mode === 'direct') placements.push(...againPlacements(plan))
  if (mode === 'translated') for (const alias of aliases) checkAlias(alias)
  return { mode, placements, aliases, hasTemporary }
}

/** The path of a virtual path in bubblewrap's tree. */
export function placeOf(path: VirtualPath, mode: LayoutMode): string {
  return mode === 'translated' ? placeTranslated(path) : path
}

function placeTranslated(path: string): string {
  if (within(path, temporary)) return translatedTemporary + path.slice(temporary.length)
  return path === '/' ? translatedRoot : translatedRoot + path
}

function below(prefix: string, path: string): string {
  return prefix !== '' && path === '/' ? prefix : prefix + path
}

function systemPlacements({ source }: Bind, systemNames: readonly string[]): Placement[] {
  return systemNames.map((name) => ({
    at: `/${name}`,
    virtual: `/${name}` as VirtualPath,
    type: 'directory',
    show: 'system',
    readOnly: false,
    beneath: inside(source ?? '', `/${name}`),
  }))
}

/**
 * Mounts the tree again at each alias over a reserved name, without aliases inside.
 * A copied mount uses the same directory as the original mount, so it cannot be changed separately.
 */
function againPlacements({ binds, aliases }: BindPlan): Placement[] {
  const root = binds.find(({ at }) => at === '/')
  const at = (path: string, over: string) => ({
    at: path,
    virtual: path as VirtualPath,
    type: 'directory' as const,
    beneath: inside(root?.source ?? '', over),
  })
  return aliases.flatMap((alias): Placement[] => [
    { ...at(alias, alias), show: 'again', source: root?.source, readOnly: root?.access === 'read-only' },
    ...aliases.map((one): Placement => ({ ...at(alias + one, one), show: 'empty', readOnly: true })),
  ])
}

function inside(directory: string, path: string): HostPath {
  return (directory === '/' ? path : directory + path) as HostPath
}

function placed(bind: Bind, at: string, last: ReadonlyMap<string, Placement>): Placement {
  const { at: virtual, type, source } = bind
  let place = at
  while (place !== '/' && !last.has(place)) place = place.slice(0, Math.max(1, place.lastIndexOf('/')))
  const around = last.get(place)
  const rest = around === undefined || around.at === '/' ? at : at.slice(around.at.length)
  const beneath = around?.source === undefined ? undefined : inside(around.source, rest)
  const common = { at, virtual, type, beneath, rule: bind.rules[0] }
  if (bind.missing !== undefined && bind.kind === 'mask') return { ...common, show: 'empty', readOnly: true }
  if (bind.kind === 'mask' || bind.kind === 'closed') return { ...common, show: bind.kind, readOnly: true }
  if (bind.access === 'none') return { ...common, show: 'mask', readOnly: true }
  if (source === undefined) throw unenforceable(virtual, 'has no place on this machine that could be shown')
  return { ...common, show: 'source', source, readOnly: bind.access === 'read-only' }
}

function checkAlias(alias: VirtualPath): void {
  if (/[:!]/.test(alias)) throw unenforceable(alias, 'cannot be an alias in commands, since it holds `:` or `!`')
}

function unenforceable(path: VirtualPath, reason: string): WorkspaceError {
  return execError('EUNENFORCEABLE', reason, { path, remedy: 'choose another path for it' })
}

export function within(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory === '/' ? '/' : `${directory}/`)
}

/** Limit of parts of a plan: bubblewrap reads the mount table after each part, and needs a descriptor for most parts. */
const mostParts = 200

/** The mounts that make a tree, and the covers that are mounted in the finished tree before the command runs. */
export interface SplitLayout {
  readonly mounted: Layout
  readonly covers: readonly Placement[]
  /** The path at which a spare assembles the tree of its command. Absent: the supervisor's tree. */
  readonly top?: string | undefined
}

/** Separates covers of a layout with many parts. Covers that show their own path or nothing are mounted in the finished tree. */
export function splitLate(layout: Layout): SplitLayout {
  const { placements } = layout
  if (placements.length <= mostParts) return { mounted: layout, covers: [] }
  const again = placements.findIndex(({ show }) => show === 'again')
  const mounted: Placement[] = []
  const covers: Placement[] = []
  const around = new Set<string>()
  const known = new Map(placements.map((placement) => [placement.at, placement]))
  // From children to parents.
  for (let index = placements.length - 1; index >= 0; index--) {
    const placement = placements[index]
    if (placement === undefined) continue
    const isCover = coversItsPlace(placement) && !isOpened(placement, known) && (again < 0 || index < again)
    if (isCover && !around.has(placement.at)) covers.push(placement)
    else {
      mounted.push(placement)
      for (let at = parentOf(placement.at); at !== '' && !around.has(at); at = parentOf(at)) around.add(at)
    }
  }
  return { mounted: { ...layout, placements: mounted.reverse() }, covers: covers.reverse() }
}

function coversItsPlace({ show, source, beneath }: Placement): boolean {
  if (beneath === undefined) return false
  return show === 'mask' || show === 'empty' || (show === 'source' && source === beneath)
}

/** True for a writable part inside a read-only part, which only the finished tree can contain. */
function isOpened({ at, readOnly }: Placement, known: ReadonlyMap<string, Placement>): boolean {
  let place = parentOf(at)
  while (place !== '' && !known.has(place)) place = parentOf(place)
  return !readOnly && known.get(place === '' ? '/' : place)?.readOnly === true
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'))
}
