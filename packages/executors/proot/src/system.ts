import type { VirtualPath } from '@ws/core'
import type { Owner } from '@ws/core/adapter'
import { Landlock, systemTree, type Tools } from '@ws/sandbox'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'

import { createSkeleton } from './skeleton.ts'

export interface ViewBind {
  readonly at: string
  readonly host: string
  readonly type: 'directory' | 'file'
}

export interface SystemPart {
  readonly binds: readonly ViewBind[]
  /** Symbolic links at the system's top level. If the workspace is the root, binds replace these links. */
  readonly links: readonly { readonly at: string; readonly target: string }[]
  readonly rules: readonly Landlock.LandlockRule[]
  /** Device and inode of the view's `/etc`. */
  readonly etc: string
}

export interface SystemPartOptions {
  readonly directory: string
  readonly root: VirtualPath
  readonly owner: Owner
  readonly tools: readonly Tools.ResolvedTool[]
  /**
   * `/proc`: `all` in a PID namespace. `closed` under Landlock: `/proc/self/fd`, `/proc/self/exe` and a few harmless files, not listable.
   * Otherwise `none`: `/proc` would show the environment of every process of the same uid.
   */
  readonly proc: 'all' | 'closed' | 'none'
}

const deviceLinks = {
  fd: '/proc/self/fd',
  stdin: '/proc/self/fd/0',
  stdout: '/proc/self/fd/1',
  stderr: '/proc/self/fd/2',
}

/** Creates the private `/etc` and `/dev`, and selects binds of the system. */
export function createSystemPart(options: SystemPartOptions): SystemPart {
  const { tools, proc } = options
  const binds: ViewBind[] = []
  const links: { at: string; target: string }[] = []
  const rules: Landlock.LandlockRule[] = []
  const readable = (source: string) => rules.push({ source, access: ['read', 'execute'] })
  const etc = join(options.directory, 'etc')
  mkdirSync(etc)
  for (const entry of systemTree({ ...options, network: true })) {
    const inEtc = entry.at.startsWith('/etc/')
    const place = inEtc ? join(options.directory, entry.at) : entry.at
    if (inEtc) mkdirSync(dirname(place), { recursive: true })
    if (entry.kind === 'directory') {
      if (inEtc) mkdirSync(place, { recursive: true })
      binds.push({ at: entry.at, host: entry.source, type: 'directory' })
      readable(entry.source)
    } else if (entry.kind === 'link') {
      if (inEtc) symlinkSync(entry.target, place)
      else links.push({ at: entry.at, target: entry.target })
    } else writeReadable(place, entry.kind === 'data' ? entry.content : readFileSync(entry.source))
  }
  openToAll(etc)
  binds.push({ at: '/etc', host: etc, type: 'directory' })
  readable(etc)
  for (const { host, at } of tools) {
    binds.push({ at, host, type: 'directory' })
    readable(host)
  }
  if (options.root === '/') binds.push(...toolParents(options.directory, tools, [...binds, ...links]))
  addDevices(options.directory, binds, rules)
  if (proc !== 'none') binds.push({ at: '/proc', host: '/proc', type: 'directory' })
  if (proc === 'all') rules.push({ source: '/proc', access: ['read'] })
  if (proc === 'closed') {
    for (const source of Landlock.sharedProcFiles) rules.push({ source, access: ['read'], optional: true })
  }
  const { dev, ino } = statSync(etc, { bigint: true })
  return { binds, links, rules, etc: `${dev}:${ino}` }
}

/** If the workspace is the root, covers a tool's missing first parent by a private directory, to avoid creating it in the workspace. */
function toolParents(
  directory: string,
  tools: readonly Tools.ResolvedTool[],
  shown: readonly { readonly at: string }[],
): ViewBind[] {
  const top = (at: string) => `/${at.split('/')[1] ?? ''}`
  const tops = new Set(tools.map(({ at }) => top(at)).filter((at) => !shown.some((other) => other.at === at)))
  return [...tops].map((at, index): ViewBind => {
    const host = join(directory, `tools-${index}`)
    const below = tools.filter((tool) => top(tool.at) === at)
    createSkeleton(
      host,
      below.map((tool) => ({ at: tool.at.slice(at.length), type: 'directory' })),
    )
    return { at, host, type: 'directory' }
  })
}

function addDevices(directory: string, binds: ViewBind[], rules: Landlock.LandlockRule[]): void {
  const dev = join(directory, 'dev')
  mkdirSync(dev)
  mkdirSync(join(dev, 'shm'))
  for (const [name, access] of Object.entries(Landlock.sharedDevices)) {
    writeReadable(join(dev, name), '')
    binds.push({ at: `/dev/${name}`, host: `/dev/${name}`, type: 'file' })
    rules.push({ source: `/dev/${name}`, access, optional: true })
  }
  for (const [name, target] of Object.entries(deviceLinks)) symlinkSync(target, join(dev, name))
  binds.push({ at: '/dev', host: dev, type: 'directory' })
  rules.push({ source: dev, access: ['read'] })
  chmodSync(dev, 0o555)
}

/** Writes a file that all users can read under any umask, because commands can have another uid. */
function writeReadable(path: string, content: string | Uint8Array): void {
  writeFileSync(path, content)
  chmodSync(path, 0o444)
}

function openToAll(directory: string): void {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    if (entry.isDirectory()) openToAll(join(directory, entry.name))
  }
  chmodSync(directory, 0o555)
}

/** Creates `/dev/shm`, to which commands can write. */
export function createOwnedDirectory(path: string, owner: Owner): string {
  mkdirSync(path, { mode: 0o700 })
  if (process.getuid?.() === 0) chownSync(path, owner.uid, owner.gid)
  return path
}

/**
 * Binds the target of a top-level link, for a workspace as root.
 * Binds the target's own path first, so that programs report `/usr/bin` instead of `/bin`.
 */
export function bindsForLink(at: string): ViewBind[] {
  const host = realpathSync(at)
  return [
    { at: host, host, type: 'directory' },
    { at, host, type: 'directory' },
  ]
}
