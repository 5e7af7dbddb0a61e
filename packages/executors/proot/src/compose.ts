import { paths, type VirtualPath } from '@ws/core'
import type { Bind, BindPlan, HostPath } from '@ws/core/executor'
import { HostPaths, Landlock } from '@ws/sandbox'
import { lstatSync } from 'node:fs'
import { join } from 'node:path'

import { type Covers, createClosedCover } from './covers.ts'
import type { RunDirectory } from './run-directories.ts'
import type { SkeletonCache } from './skeleton.ts'
import { bindsForLink, type SystemPart, type ViewBind } from './system.ts'

export interface ComposedView {
  /** A private directory with an empty entry at the path of each bind. It is proot's root before proot makes the binds. */
  readonly skeleton: string
  /** The binds in proot's order: children before parents, the root last. */
  readonly binds: readonly ViewBind[]
  readonly rules: readonly Landlock.LandlockRule[]
  release(): void
}

export interface ComposeOptions {
  readonly plan: BindPlan
  readonly system: SystemPart
  readonly run: RunDirectory
  readonly landlock: boolean
  readonly skeletons: SkeletonCache
  readonly covers: Covers
}

/**
 * Makes binds by path and Landlock grants by descriptor. Checks links directly before the start; a later replacement has no grant.
 * @throws WorkspaceError `EBUSY`, `EBACKEND`, `EUNENFORCEABLE`
 */
export async function composeView(options: ComposeOptions): Promise<ComposedView> {
  const { plan, system, run } = options
  const sources: HostPaths.BindSource[] = []
  const release = () => {
    for (const source of sources.splice(0)) source.close()
  }
  try {
    const held = await openSources(plan, sources)
    Landlock.checkReadOnlyMounts(plan, held, { executor: 'proot', landlock: options.landlock })
    const own = await ownBinds(plan, options)
    const shownAtRoot = own.some(({ at }) => at === '/')
    const whole: ViewBind[] = [
      ...own,
      { at: '/dev/shm', host: run.shm, type: 'directory' },
      ...(shownAtRoot ? system.links.flatMap(({ at }) => bindsForLink(at)) : []),
      ...system.binds,
    ]
    const links = shownAtRoot ? [] : [rootPrefix, ...plan.aliases].flatMap((alias) => moveLinks(system, alias))
    const binds = orderBinds(whole, plan.aliases)
    const skeleton = options.skeletons.get(
      binds.filter(({ at }) => at !== '/'),
      links,
    )
    const rules: Landlock.LandlockRule[] = [
      ...system.rules,
      ...grants(held),
      { source: run.shm, access: ['read', 'write'] },
      ...(shownAtRoot ? [] : [{ source: skeleton, access: ['read'] } as const]),
    ]
    return { skeleton, binds, rules, release }
  } catch (error) {
    release()
    throw error
  }
}

const rootPrefix = '' as VirtualPath

function moveLinks(system: SystemPart, alias: string) {
  return system.links.map(({ at, target }) => ({ at: alias + at, target }))
}

interface OpenBind extends Landlock.HeldBind {
  readonly bind: Bind
  readonly source: HostPaths.BindSource
}

async function openSources(plan: BindPlan, sources: HostPaths.BindSource[]): Promise<OpenBind[]> {
  const shown = plan.binds.flatMap((bind) =>
    bind.source === undefined || bind.kind === 'pin' ? [] : [{ bind, host: bind.source }],
  )
  sources.push(
    ...(await HostPaths.openBindSources(shown.map(({ bind, host }) => ({ path: host, type: bind.type, at: bind.at })))),
  )
  return shown.flatMap((one, index) => {
    const source = sources[index]
    return source === undefined ? [] : [{ ...one, source }]
  })
}

function grants(held: readonly OpenBind[]): Landlock.LandlockRule[] {
  const rules = new Map<string, Landlock.LandlockRule>()
  for (const { bind, source } of held) {
    if (bind.access === 'none') continue
    const writable = bind.access === 'read-write'
    rules.set(`${source.identity} ${bind.access}`, {
      source: { fd: source.fd },
      access: writable ? ['read', 'write', 'execute'] : ['read', 'execute'],
    })
  }
  return [...rules.values()]
}

async function ownBinds(
  plan: BindPlan,
  { run, covers }: Pick<ComposeOptions, 'run' | 'covers'>,
): Promise<readonly ViewBind[]> {
  const own: (ViewBind & Pick<Bind, 'at' | 'source'>)[] = []
  const places: HostPaths.WantedSource[] = []
  for (const bind of plan.binds) {
    const around = own.findLast(({ at }) => bind.at !== at && paths.isWithin(bind.at, at))
    const shown = around?.source === undefined ? undefined : join(around.host, paths.relativeTo(bind.at, around.at))
    if (bind.kind === 'pin' || (bind.source !== undefined && bind.source === shown)) continue
    // A denied part or `/tmp` may be missing. A mount point must exist.
    const mayBeMissing = bind.source === undefined || bind.kind === 'scratch'
    if (shown !== undefined && !(mayBeMissing && isMissing(shown)))
      places.push({ path: shown as HostPath, type: bind.type, at: bind.at })
    // A later bind at the same path covers the earlier bind.
    const earlier = own.findIndex(({ at }) => at === bind.at)
    if (earlier >= 0) own.splice(earlier, 1)
    const cover = () =>
      bind.kind === 'closed' ? createClosedCover(bind, plan, join(run.path, `closed-${own.length}`)) : covers.get(bind)
    own.push({ ...bind, host: bind.source ?? cover() })
  }
  // Only checks the paths: proot looks them up in the skeleton, not on the disk.
  for (const place of await HostPaths.openBindSources(places)) place.close()
  return own
}

function isMissing(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) === undefined
}

/**
 * Orders children before parents, so that proot finds paths in its skeleton, never through a workspace link. The root comes last.
 * If several paths have the same source, programs see the first path.
 */
function orderBinds(whole: readonly ViewBind[], aliases: readonly VirtualPath[]): ViewBind[] {
  const depth = ({ at }: ViewBind) => at.split('/').length
  const deepestFirst = (binds: readonly ViewBind[]) => binds.toSorted((a, b) => depth(b) - depth(a))
  const unique = [...new Map(whole.map((bind) => [bind.at, bind])).values()]
  const root = unique.filter(({ at }) => at === '/')
  const repeated = aliases.flatMap((alias) =>
    deepestFirst(unique.map((bind) => ({ ...bind, at: bind.at === '/' ? alias : alias + bind.at }))),
  )
  return [...deepestFirst(unique.filter(({ at }) => at !== '/')), ...repeated, ...root]
}
