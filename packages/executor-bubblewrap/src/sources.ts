import { readFileSync } from 'node:fs'

import type { HostPath } from '@ws/core'
import { openBindSource, type BindSource } from '@ws/process'

import type { Placement } from './layout.ts'
import { type MountEntry, parseMountTable } from './mount-table.ts'

/** A source as the mount table of a sandbox must show it. */
export interface MountedSource {
  /** `major:minor` */
  readonly device: string
  /** The path inside that file system. */
  readonly root: string
}

export interface OpenedSources extends AsyncDisposable {
  readonly descriptor: (path: HostPath) => number
  readonly mounted: (path: HostPath) => MountedSource | undefined
}

/**
 * Opens every source, each once, and makes sure that every destination exists and is no link: bubblewrap would create
 * what is missing, on the workspace's own disk [RP18].
 *
 * @throws WorkspaceError `EBUSY`, `EBACKEND` as {@link openBindSource}
 */
export async function openSources(placements: readonly Placement[]): Promise<OpenedSources> {
  const wanted = new Map<string, Placement & { readonly path: HostPath }>()
  for (const placement of placements) {
    if (placement.beneath !== undefined) wanted.set(placement.beneath, { ...placement, path: placement.beneath })
  }
  for (const placement of placements) {
    if (placement.source !== undefined) wanted.set(placement.source, { ...placement, path: placement.source })
  }
  const opened = new Map<string, BindSource>()
  const results = await Promise.allSettled(
    [...wanted].map(async ([path, { type, virtual }]) => {
      opened.set(path, await openBindSource(path as HostPath, type, { at: virtual }))
    }),
  )
  const close = async () => {
    await Promise.all([...opened.values()].map((source) => source.close()))
  }
  const failed = results.find((result) => result.status === 'rejected')
  if (failed !== undefined) {
    await close()
    throw failed.reason
  }
  let table: ReadonlyMap<string, MountEntry> | undefined
  return {
    descriptor(path) {
      const source = opened.get(path)
      if (source === undefined) throw new Error('a source that was not opened')
      return source.fd
    },
    mounted(path) {
      const source = opened.get(path)
      if (source === undefined) return undefined
      table ??= new Map(
        parseMountTable(readFileSync('/proc/self/mountinfo', 'latin1')).map((entry) => [entry.id, entry]),
      )
      return locate(source.fd, path, table)
    },
    [Symbol.asyncDispose]: close,
  }
}

/** Where a descriptor's file is in its file system. The kernel says which mount it was opened through. */
function locate(fd: number, path: HostPath, table: ReadonlyMap<string, MountEntry>): MountedSource | undefined {
  const mountId = /^mnt_id:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1'))?.[1]
  const mount = table.get(mountId ?? '')
  if (mount === undefined) return undefined
  const bytes = Buffer.from(path).toString('latin1')
  const rest = mount.point === '/' ? bytes : bytes.slice(mount.point.length)
  const root = mount.root === '/' ? rest || '/' : mount.root + (rest === '/' ? '' : rest)
  return { device: mount.device, root }
}
