import type { VirtualPath } from '@ws/core'
import { type Bind, type BindPlan, execError, type HostPath } from '@ws/core/executor'

/** A bind of the plan at its path in the container. */
export interface Placement {
  readonly at: string
  readonly virtual: VirtualPath
  readonly rule?: string | undefined
  /** `empty`: a readable empty directory for a missing name. */
  readonly show: 'source' | 'mask' | 'empty' | 'closed'
  readonly type: 'directory' | 'file'
  /** A part of the workspace, or an entry that covers one. */
  readonly source: HostPath
  readonly readOnly: boolean
  /** The host path below this mount, which must exist: the engine would create it as root. Absent: there is none. */
  readonly beneath?: HostPath | undefined
}

/** Entries of this machine that cover parts of a workspace. A file system in memory could not: runc gives it the mode of the covered entry. */
export interface CoverFiles {
  /** Entries of mode 000. */
  readonly mask: Readonly<Record<Placement['type'], HostPath>>
  readonly empty: HostPath
  /** @returns a directory of mode 111 with the places of its open parts: paths below it, by type */
  closed(parts: ReadonlyMap<string, Placement['type']>): HostPath
}

/** @returns the mounts of a tree, parents first @throws WorkspaceError `EUNENFORCEABLE` for a mount at `/` */
export function layOut({ binds, aliases }: BindPlan, files: CoverFiles): Placement[] {
  if (binds.some(({ at }) => at === '/'))
    throw execError('EUNENFORCEABLE', 'cannot be mounted at `/` of a container', {
      path: '/',
      remedy: 'mount the workspace at `/workspace`',
    })
  return ['', ...aliases].flatMap((prefix) => {
    const own = new Map<string, Placement>()
    for (const bind of binds) own.set(prefix + bind.at, placed(bind, prefix + bind.at, { own, binds, files }))
    return [...own.values()]
  })
}

interface Around {
  readonly own: ReadonlyMap<string, Placement>
  readonly binds: readonly Bind[]
  readonly files: CoverFiles
}

function placed(bind: Bind, at: string, { own, binds, files }: Around): Placement {
  const { at: virtual, type, source, kind, access } = bind
  let place = at
  while (place !== '' && !own.has(place)) place = place.slice(0, place.lastIndexOf('/'))
  const around = own.get(place)
  const beneath = around?.show === 'source' ? ((around.source + at.slice(place.length)) as HostPath) : undefined
  const common = { at, virtual, rule: bind.rules[0], type, beneath, readOnly: true }
  if (kind === 'mask' && bind.missing !== undefined && type === 'directory')
    return { ...common, show: 'empty', source: files.empty }
  if (kind === 'closed') {
    const inside = binds.filter((one) => one.at.startsWith(`${virtual}/`))
    const parts = new Map(inside.map((one) => [one.at.slice(virtual.length + 1), one.type]))
    return { ...common, show: 'closed', source: files.closed(parts) }
  }
  if (kind === 'mask' || access === 'none') return { ...common, show: 'mask', source: files.mask[type] }
  if (source === undefined)
    throw execError('EUNENFORCEABLE', 'has no place on this machine that could be shown', {
      path: virtual,
      remedy: 'choose another path for it',
    })
  return { ...common, show: 'source', source, readOnly: access === 'read-only' }
}
