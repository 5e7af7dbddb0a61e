import { openSync, closeSync } from 'node:fs'

import { type CommandLimits, type VirtualPath, type WorkspaceError } from '@ws/core'
import { execError, type HostPath } from '@ws/core/executor'
import type { DescriptorSource, ExtraDescriptors, KeptContents } from '@ws/process'
import {
  type DelegatedCgroup,
  type HiddenNames,
  hidingCommand,
  limitedCommand,
  type SystemEntry,
  resourceLimits,
} from '@ws/sandbox'

import { againArguments } from './again.ts'
import { descriptors, firstProcess, splitEnvironment } from './first-process.ts'
import { type Layout, translatedRoot, translatedTemporary, type Placement, placeOf, temporary } from './layout.ts'
import type { OpenedSources } from './sources.ts'
import { memory, mountSystem, systemNames, withoutEntries } from './system-mounts.ts'

export interface SandboxCommand {
  readonly layout: Layout
  readonly sources: OpenedSources
  /** `device:inode` of the directories that hold missing names, by host path. */
  readonly reserved: ReadonlyMap<HostPath, string>
  readonly system: readonly SystemEntry[]
  /** Directories of this machine, by open descriptor. */
  readonly tools: readonly { readonly at: string; readonly fd: number }[]
  /** Where the workspace's directory is the root. */
  readonly direct?: DirectRoot | undefined
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: VirtualPath
  /** Descriptors that the command itself needs. */
  readonly extraFds: ExtraDescriptors
  readonly seccomp: Uint8Array
  /** Content that every command is given: only bubblewrap has those descriptors. */
  readonly contents: KeptContents
  readonly network: 'none' | 'host'
  readonly scratchBytes: number
  readonly limits: CommandLimits
  /** Holds some of the limits, where there is one. */
  readonly cgroup?: DelegatedCgroup | undefined
  readonly bwrap: string
  readonly proot?: string | undefined
}

export interface DirectRoot {
  /** A directory with the files of `/etc`, by open descriptor. */
  readonly etc: number | undefined
  readonly hidden: HiddenNames
}

export interface SandboxArguments {
  readonly argv: readonly string[]
  /** To be written to the descriptor for arguments: until its end, bubblewrap does nothing. */
  readonly options: Uint8Array
  /** Those for the options are still to be set. */
  readonly extraFds: Map<number, DescriptorSource>
  /** Closes what was opened here; call it as soon as the process is started. */
  close(): void
}

/** The highest number that a descriptor of a child can have. */
const lastDescriptor = 255
const prootBytes = 16 * 1024 * 1024

/**
 * bubblewrap's command line. Everything but the command itself travels by descriptor: command lines can be read by
 * every user of the host.
 *
 * @throws WorkspaceError `EUNENFORCEABLE` when the plan has more parts than there are descriptors
 */
export function sandboxArguments(command: SandboxCommand): SandboxArguments {
  const { layout, network, cwd } = command
  const opened: number[] = []
  const fds = new Map<number, DescriptorSource>(command.extraFds)
  let next: number = descriptors.firstSource
  const give = (source: DescriptorSource): string => {
    if (next > lastDescriptor) throw tooMany()
    fds.set(next, source)
    return String(next++)
  }
  const copy = (path: string): string => {
    const fd = openSync(path, 'r')
    opened.push(fd)
    return give(fd)
  }
  const data = (content: Uint8Array): string => give(command.contents.keep(content))
  const close = () => {
    for (const fd of opened) closeSync(fd)
  }
  try {
    const environment = splitEnvironment(command.env)
    const isTranslated = layout.mode === 'translated'
    const outer = isTranslated ? { ...environment.outer, ...prootEnvironment } : environment.outer
    const args = [
      ...['--unshare-all', ...(network === 'host' ? ['--share-net'] : []), '--die-with-parent', '--new-session'],
      ...['--as-pid-1', '--cap-drop', 'ALL', '--clearenv'],
      ...Object.entries(outer).flatMap(([name, value]) => ['--setenv', name, value]),
      ...(command.direct === undefined ? builtRoot(command, copy, data, give) : []),
      ...firstMounts(layout).flatMap((placement) =>
        placement.show === 'system'
          ? mountSystem(placement, { ...command, etc: command.direct?.etc }, give)
          : placementArguments(placement, command.sources, give),
      ),
      ...closedFirst(layout.placements),
      ...(layout.mode === 'direct' ? againArguments(layout) : []),
      ...(layout.mode === 'below' ? layout.aliases.flatMap((alias) => aliasArguments(alias, command)) : []),
      ...(command.direct === undefined ? ['--remount-ro', '/'] : []),
      ...['--chdir', placeOf(cwd, layout.mode)],
      ...['--json-status-fd', String(descriptors.status), '--seccomp', String(descriptors.seccomp)],
    ]
    fds.set(descriptors.status, 'pipe')
    fds.set(descriptors.report, 'pipe')
    fds.set(descriptors.commandError, 'pipe')
    fds.set(descriptors.seccomp, command.contents.keep(command.seccomp))
    // The first process, and proot, are processes of the same namespace.
    const limits = resourceLimits(command.limits, command.cgroup)
    const limited = limitedCommand(command.argv, limits, { ownProcesses: isTranslated ? 2 : 1 })
    const first = firstProcess(limited, environment.inner)
    const inside = isTranslated ? [...prootArguments(command), ...first] : first
    const argv = [command.bwrap, '--args', String(descriptors.arguments), '--', ...inside]
    const hidden = command.direct?.hidden
    return {
      argv: hidden === undefined ? argv : hidingCommand({ hidden, start: descriptors.status, argv }),
      options: Buffer.from(args.map((argument) => `${argument}\0`).join('')),
      extraFds: fds,
      close,
    }
  } catch (error) {
    close()
    throw error
  }
}

// Without this, proot makes mount points on the workspace's own disk [RP18].
const prootEnvironment = { PROOT_DONT_POLLUTE_ROOTFS: '1' }

type Give = (source: DescriptorSource) => string

/** A root in memory, with the system's part of the tree. */
function builtRoot(
  { layout, system, tools, scratchBytes }: SandboxCommand,
  copy: (path: string) => string,
  data: (content: Uint8Array) => string,
  give: Give,
): string[] {
  const isTranslated = layout.mode === 'translated'
  return [
    ...system.flatMap((entry) => systemArguments(entry, copy, data)),
    ...tools.flatMap(({ at, fd }) => ['--ro-bind-fd', give(fd), at]),
    ...['--proc', '/proc', '--remount-ro', '/proc', '--dev', '/dev'],
    ...[...memory('/dev/shm', scratchBytes), '--remount-ro', '/dev'],
    ...(layout.hasTemporary ? [] : memory(isTranslated ? translatedTemporary : temporary, scratchBytes)),
    // proot's own files are not in the view: it knows no other place for them.
    ...(isTranslated ? [...memory(temporary, prootBytes), '--dir', translatedRoot] : []),
  ]
}

function systemArguments(
  entry: SystemEntry,
  copy: (path: string) => string,
  data: (content: Uint8Array) => string,
): string[] {
  // A mount costs bubblewrap a reading of the mount table, a copy next to nothing.
  if (entry.kind === 'file') return ['--perms', '0444', '--file', copy(entry.source), entry.at]
  if (entry.kind === 'data') return ['--perms', '0444', '--file', data(entry.content), entry.at]
  if (entry.kind === 'link') return ['--symlink', entry.target, entry.at]
  // By name: these belong to the system, and no user of commands can exchange them.
  return ['--ro-bind', entry.source, entry.at]
}

function placementArguments(
  { at, show, type, source, readOnly }: Placement,
  sources: OpenedSources,
  give: Give,
): string[] {
  if (source !== undefined) return [readOnly ? '--ro-bind-fd' : '--bind-fd', give(sources.descriptor(source)), at]
  if (type === 'file') return ['--perms', '0000', '--ro-bind-data', give('null'), at]
  if (show === 'closed') return ['--perms', '0111', '--size', '4096', '--tmpfs', at]
  // Nothing is kept from a command where nothing is: git and tar complain of what they cannot read.
  return withoutEntries(at, show === 'empty' ? '0555' : '0000')
}

/** All but those that come with a copy of the tree. */
function firstMounts({ placements }: Layout): readonly Placement[] {
  const first = placements.findIndex(({ show }) => show === 'again')
  return first < 0 ? placements : placements.slice(0, first)
}

/** Only when their open parts have been bound: those need a place in them. */
function closedFirst(placements: readonly Placement[]): string[] {
  return placements.filter(({ show }) => show === 'closed').flatMap(({ at }) => ['--remount-ro', at])
}

/** The system's names below an alias. Its mounts are among the placements. */
function aliasArguments(alias: VirtualPath, { system, tools, layout }: SandboxCommand): string[] {
  return [...systemNames([...system, ...tools]), ...(layout.hasTemporary ? [] : ['tmp'])].flatMap((name) => [
    '--symlink',
    `/${name}`,
    `${alias}/${name}`,
  ])
}

function prootArguments({ proot, layout, system, tools, cwd }: SandboxCommand): string[] {
  if (proot === undefined) throw new Error('proot was not looked up')
  const names = systemNames([...system, ...tools])
  const below = (prefix: string) => [
    ...names.flatMap((name) => ['-b', `/${name}:${prefix}/${name}`]),
    ...['-b', `${translatedTemporary}:${prefix}${temporary}`],
  ]
  const aliases = layout.aliases.flatMap((alias) => ['-b', `${translatedRoot}:${alias}`, ...below(alias)])
  return [proot, '-v', '-1', '-r', translatedRoot, ...below(''), ...aliases, '-w', cwd]
}

function tooMany(): WorkspaceError {
  return execError('EUNENFORCEABLE', 'the policy has more parts than a command can be started with (about 200)', {
    remedy: 'protect whole directories instead of many single entries',
  })
}
