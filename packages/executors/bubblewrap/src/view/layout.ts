import type { VirtualPath, WorkspaceError } from '@ws/core'
import { execError, type Bind, type BindPlan, type HostPath } from '@ws/core/executor'

/**
 * The place of the tree that proot makes `/`. Nothing of the workspace's is outside it, so it gives no more than the
 * view does. The parts over it (masks, read-only parts) are real mounts.
 */
export const translatedRoot = '/.ws'
/** The place of the workspace's `/tmp` there: outside its tree, where it needs no mount point on the disk [RP18]. */
export const translatedTemporary = '/.tmp'
export const temporary = '/tmp'

/** One bind of the plan at its place in the tree that bubblewrap makes. */
export interface Placement {
  readonly at: string
  /** For messages. */
  readonly virtual: VirtualPath
  readonly rule?: string | undefined
  /**
   * - `empty`: a directory that can be read and holds nothing, for a name that is missing.
   * - `system`: parts of the machine that commands need, over a name that is reserved in the workspace's directory.
   * - `again`: the whole tree with all its mounts, at an alias.
   */
  readonly show: 'source' | 'mask' | 'empty' | 'closed' | 'system' | 'again'
  readonly type: 'directory' | 'file'
  readonly source?: HostPath | undefined
  readonly readOnly: boolean
  /**
   * The path on the host that is at this place, and must be there already: bubblewrap would create it. Absent: nothing
   * is.
   */
  readonly beneath?: HostPath | undefined
  /** For a warm command: a path of the supervisor's tree that it shows. Absent: the entry at its own place. */
  readonly from?: string | undefined
}

/**
 * - `below`: all mounts lie below directories such as `/workspace`, in a root that bubblewrap makes.
 * - `direct`: the workspace's own directory is the root; the system's directories lie over names that are reserved in it.
 * - `translated`: a mount is at `/`, and proot makes the workspace's tree the root.
 */
export type LayoutMode = 'below' | 'direct' | 'translated'

export interface Layout {
  readonly mode: LayoutMode
  /** Parents before children, alias by alias. */
  readonly placements: readonly Placement[]
  readonly aliases: readonly VirtualPath[]
  /** The plan brings its own `/tmp`. */
  readonly hasTemporary: boolean
}

/** A plan with a mount at `/`: there is a choice. */
export function isAtRoot({ binds }: Pick<BindPlan, 'binds'>): boolean {
  return binds.some(({ at }) => at === '/')
}

/**
 * Places a plan's binds.
 *
 * @param systemNames for `direct`: the top-level names of what commands need of the system
 * @throws WorkspaceError `EUNENFORCEABLE` for a plan that cannot be laid out: a bind without a source, an alias that
 * cannot be passed to proot.
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

/** A virtual path in the tree that bubblewrap makes. */
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

/** Over the reserved names. */
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
 * The tree once more at each alias, over a reserved name, and nothing at the names of aliases in that. The mounts below come
 * with it: they hang on the same directories as those they are copied from, so that nothing can befall them alone.
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

/** @param last what is at each place so far */
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

/** bubblewrap reads the table of mounts after each part, and takes a descriptor for most. */
const mostParts = 200

/** A layout in two: the mounts of a tree, and the covers that are put into the finished tree before the command runs. */
export interface SplitLayout {
  readonly mounted: Layout
  readonly covers: readonly Placement[]
  /** Where a spare puts the tree of its command together. Absent: it is the tree of the supervisor. */
  readonly top?: string | undefined
}

/**
 * Where there are many parts, those that show what is at their place already, or nothing, are mounted in the finished tree. What
 * lies around another part of bubblewrap's stays with that.
 */
export function splitLate(layout: Layout): SplitLayout {
  const { placements } = layout
  if (placements.length <= mostParts) return { mounted: layout, covers: [] }
  const again = placements.findIndex(({ show }) => show === 'again')
  const mounted: Placement[] = []
  const covers: Placement[] = []
  const around = new Set<string>()
  const known = new Map(placements.map((placement) => [placement.at, placement]))
  // Children first.
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

/** It can be written and lies in a part that cannot: in the finished tree, only that is to be had. */
function isOpened({ at, readOnly }: Placement, known: ReadonlyMap<string, Placement>): boolean {
  let place = parentOf(at)
  while (place !== '' && !known.has(place)) place = parentOf(place)
  return !readOnly && known.get(place === '' ? '/' : place)?.readOnly === true
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'))
}
