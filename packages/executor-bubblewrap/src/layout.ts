import { type Bind, type BindPlan, type HostPath, type VirtualPath, WorkspaceError } from '@ws/core'

/**
 * Where the tree stands in which proot makes `/` of it. Nothing of the workspace's is outside of it, so it gives no more
 * than the view does; what lies over it (masks, read-only parts) are real mounts.
 */
export const nestedRoot = '/.ws'
/** Where the workspace's `/tmp` stands there: outside its tree, where it needs no mount point on the disk [RP18]. */
export const nestedTemporary = '/.tmp'
export const temporary = '/tmp'

/** One bind of the plan at its place in the tree that bubblewrap makes. */
export interface Placement {
  readonly at: string
  /** For messages. */
  readonly virtual: VirtualPath
  readonly rule?: string | undefined
  /** `empty`: a directory that can be read and holds nothing, for a name that is missing. */
  readonly show: 'source' | 'mask' | 'empty' | 'closed'
  readonly type: 'directory' | 'file'
  readonly source?: HostPath | undefined
  readonly readOnly: boolean
  /** What is at this place on the host, and must be there already: bubblewrap would create it. Absent: nothing is. */
  readonly beneath?: HostPath | undefined
}

export interface Layout {
  /** `nested`: a mount is at `/`, so proot makes the workspace's tree the root. */
  readonly mode: 'direct' | 'nested'
  /** Parents before children, alias by alias. */
  readonly placements: readonly Placement[]
  readonly aliases: readonly VirtualPath[]
  /** The plan brings its own `/tmp`. */
  readonly hasTemporary: boolean
}

/**
 * Places a plan's binds.
 *
 * @throws WorkspaceError `EUNENFORCEABLE` for a plan that cannot be laid out: a bind without a source, an alias that
 * proot could not be told.
 */
export function layOut(plan: BindPlan): Layout {
  const mode = plan.binds.some(({ at }) => at === '/') ? 'nested' : 'direct'
  const places = mode === 'nested' ? [(path: string) => placeNested(path)] : directPlaces(plan.aliases)
  const placements: Placement[] = []
  for (const place of places) {
    const own: Placement[] = []
    for (const bind of plan.binds) own.push(placed(bind, place(bind.at), own))
    placements.push(...own)
  }
  if (mode === 'nested') for (const alias of plan.aliases) checkAlias(alias)
  return { mode, placements, aliases: plan.aliases, hasTemporary: plan.binds.some(({ at }) => at === temporary) }
}

/** A virtual path in the tree that bubblewrap makes. */
export function placeOf(path: VirtualPath, mode: Layout['mode']): string {
  return mode === 'nested' ? placeNested(path) : path
}

function placeNested(path: string): string {
  if (within(path, temporary)) return nestedTemporary + path.slice(temporary.length)
  return path === '/' ? nestedRoot : nestedRoot + path
}

function directPlaces(aliases: readonly VirtualPath[]): ((path: string) => string)[] {
  return ['', ...aliases].map((alias) => (path: string) => alias + path)
}

function placed(bind: Bind, at: string, before: readonly Placement[]): Placement {
  const { at: virtual, type, source } = bind
  // Later ones lie over earlier ones, and parents come first.
  const around = before.findLast((placement) => within(at, placement.at))
  const beneath = around?.source === undefined ? undefined : ((around.source + at.slice(around.at.length)) as HostPath)
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
  return new WorkspaceError({
    code: 'EUNENFORCEABLE',
    operation: 'exec',
    path,
    reason,
    remedy: 'choose another path for it',
  })
}

function within(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory === '/' ? '/' : `${directory}/`)
}
