import { realpathSync } from 'node:fs'

import type { DescriptorSource, SystemEntry } from '@ws/sandbox'

import { type Placement, temporary } from './layout.ts'

/** The mounts of the system for a `direct` root. */
export interface SystemMounts {
  readonly system: readonly SystemEntry[]
  readonly tools: readonly { readonly at: string; readonly fd: number }[]
  /** A directory with the files of `/etc`. Its empty directories are mount points for directories of the machine. */
  readonly etc: number | undefined
  readonly scratchBytes: number
}

/** The top-level names of the system and the tools. */
export function systemNames(system: readonly { readonly at: string }[]): string[] {
  const top = system.map(({ at }) => at.split('/')[1] ?? '').filter((name) => name !== '')
  return [...new Set([...top, 'dev', 'proc'])]
}

/** A file system in memory that every user may write to. */
export function memory(at: string, bytes: number): string[] {
  return ['--perms', '1777', '--size', String(bytes), '--tmpfs', at]
}

/** An empty file system with this mode. It is read-only, so that its owner cannot change the mode. */
export function withoutEntries(at: string, mode: string): string[] {
  return ['--perms', mode, '--size', '4096', '--tmpfs', at, '--remount-ro', at]
}

/**
 * bubblewrap's options for a top-level name of the system. Below this name, bubblewrap writes only mount points.
 * A program outside could redirect a name at the same time. Only the comparison of the mounts detects that.
 */
export function mountSystem(
  { at, virtual }: Pick<Placement, 'at' | 'virtual'>,
  { system, tools, etc, scratchBytes }: SystemMounts,
  give: (source: DescriptorSource) => string,
): string[] {
  const name = virtual.slice(virtual.lastIndexOf('/'))
  const below = <Entry extends { readonly at: string }>(entries: readonly Entry[]) =>
    entries.filter((entry) => entry.at.startsWith(`${name}/`))
  const place = (entry: { readonly at: string }) => at + entry.at.slice(name.length)
  if (name === '/proc') return ['--proc', at, '--remount-ro', at]
  if (name === '/dev') return ['--dev', at, ...memory(`${at}/shm`, scratchBytes), '--remount-ro', at]
  if (name === temporary) return memory(at, scratchBytes)
  if (name === '/etc' && etc !== undefined) {
    const mounted = below(system).flatMap((entry) =>
      entry.kind === 'directory' ? ['--ro-bind', entry.source, place(entry)] : [],
    )
    return ['--ro-bind-fd', give(etc), at, ...mounted]
  }
  const entry = system.find((one) => one.at === name)
  if (entry?.kind === 'directory') return ['--ro-bind', entry.source, at]
  // A link cannot be mounted, and no link may be made in the workspace: mount the target.
  if (entry?.kind === 'link') return ['--ro-bind', realpathSync(name), at]
  const tool = tools.find((one) => one.at === name)
  if (tool !== undefined) return ['--ro-bind-fd', give(tool.fd), at]
  const inside = below(tools).flatMap((one) => ['--ro-bind-fd', give(one.fd), place(one)])
  return ['--perms', '0755', '--size', '4096', '--tmpfs', at, ...inside, '--remount-ro', at]
}
