import { lstatSync, readFileSync } from 'node:fs'

import type { HostPath } from '@ws/core/executor'
import { HostPaths, type Tools } from '@ws/sandbox'

import type { Placement } from './layout.ts'

/** The device and path that a sandbox's mount table must show for a source. */
export interface MountedSource {
  /** `major:minor` */
  readonly device: string
  /** The path inside that file system. */
  readonly root: string
}

type OwnMounts = ReturnType<typeof HostPaths.ownMounts>

export interface OpenedSources extends Disposable {
  /** `device:inode` */
  readonly identity: (path: HostPath) => string | undefined
  readonly descriptor: (path: HostPath) => number
  readonly mounted: (path: HostPath) => MountedSource | undefined
}

/**
 * Opens every source once. Every destination must exist, and must not be a link: bubblewrap would create a missing one on the workspace's
 * disk [RP18]. @throws WorkspaceError `EBUSY`, `EBACKEND` as `openBindSources`
 */
export async function openSources(placements: readonly Placement[]): Promise<OpenedSources> {
  const wanted = new Map<HostPath, Pick<Placement, 'type' | 'virtual'>>()
  for (const placement of placements) if (placement.beneath !== undefined) wanted.set(placement.beneath, placement)
  for (const placement of placements) if (placement.source !== undefined) wanted.set(placement.source, placement)
  const sources = await HostPaths.openBindSources(
    [...wanted].map(([path, { type, virtual }]) => ({ path, type, at: virtual })),
  )
  const opened = new Map<HostPath, HostPaths.BindSource>()
  for (const [index, path] of [...wanted.keys()].entries()) {
    const source = sources[index]
    if (source !== undefined) opened.set(path, source)
  }
  let mounts: OwnMounts | undefined
  const tops = new Map<string, MountedSource | undefined>()
  return {
    identity: (path) => opened.get(path)?.identity,
    descriptor(path) {
      const source = opened.get(path)
      if (source === undefined) throw new Error('a source that was not opened')
      return source.fd
    },
    mounted(path) {
      mounts ??= HostPaths.ownMounts()
      const source = opened.get(path)
      if (source !== undefined) return locate(source.fd, path, mounts)
      let top = path as string
      while (!opened.has(top as HostPath) && top !== '') top = top.slice(0, top.lastIndexOf('/'))
      const known = tops.get(top) ?? locateTop(opened.get(top as HostPath), top as HostPath, mounts)
      tops.set(top, known)
      return known && { device: known.device, root: joined(known.root, latin(path).slice(latin(top).length)) }
    },
    [Symbol.dispose]() {
      for (const source of sources) source.close()
    },
  }
}

/** True if the name still belongs to the directory that reserves the name. */
export function isStill(path: HostPath, reserved: ReadonlyMap<HostPath, string>): boolean {
  const status = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  return status !== undefined && `${status.dev}:${status.ino}` === reserved.get(path)
}

function locate(fd: number, path: HostPath, { byId }: OwnMounts): MountedSource | undefined {
  const mountId = /^mnt_id:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1'))?.[1]
  const mount = byId.get(mountId ?? '')
  if (mount === undefined) return undefined
  const bytes = latin(path)
  const rest = mount.point === '/' ? bytes : bytes.slice(mount.point.length)
  const root = mount.root === '/' ? rest || '/' : mount.root + (rest === '/' ? '' : rest)
  return { device: mount.device, root }
}

function locateTop(
  source: HostPaths.BindSource | undefined,
  path: HostPath,
  mounts: OwnMounts,
): MountedSource | undefined {
  const start = `${latin(path)}/`
  for (const { point } of mounts.byId.values()) if (point.startsWith(start)) return undefined
  return source && locate(source.fd, path, mounts)
}

function latin(path: string): string {
  return Buffer.from(path).toString('latin1')
}

function joined(root: string, rest: string): string {
  return root === '/' ? rest : root + rest
}

interface OpenedTools extends Disposable {
  readonly tools: readonly { readonly at: string; readonly fd: number }[]
}

/** Opens the directories of tools, to bind them by descriptor. @throws WorkspaceError `EBUSY`, `EBACKEND` like `openBindSources` */
export async function openTools(tools: readonly Tools.ResolvedTool[]): Promise<OpenedTools> {
  const wanted = tools.map(({ host, at }) => ({ path: host as HostPath, type: 'directory', at }) as const)
  const opened = await HostPaths.openBindSources(wanted)
  return {
    tools: tools.map(({ at }, index) => ({ at, fd: opened[index]?.fd ?? -1 })),
    [Symbol.dispose]() {
      for (const source of opened) source.close()
    },
  }
}
