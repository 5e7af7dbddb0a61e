import { closeSync, openSync } from 'node:fs'

import type { VirtualPath, WorkspaceError } from '@ws/core'
import { execError } from '@ws/core/executor'
import type { DescriptorSource, SystemEntry } from '@ws/sandbox'

import { enterArguments } from '../processes/held-network.ts'
import type { SandboxCommand } from './arguments.ts'
import { descriptors } from '../processes/first-process.ts'
import { type Layout, type Placement, temporary, translatedRoot, translatedTemporary } from '../view/layout.ts'
import type { OpenedSources } from '../view/sources.ts'
import { memory, mountSystem, systemNames, withoutEntries } from '../view/system-mounts.ts'

/**
 * The path of the root that bubblewrap assembles, from the directory where bubblewrap looks for sources. bubblewrap first resolves sources.
 * A `try` option uses a missing source as written. This path exists as soon as bubblewrap has made its own directories.
 * If a version of bubblewrap behaves differently, the comparison of the mounts fails, also in a probe.
 */
const assembledRoot = '/../oldroot/../newroot'

/**
 * Mounts the finished tree at each alias in one call. To mount each part again would double the mounts, and bubblewrap reads the mount
 * table after each mount. In the first copy, the names of the aliases are empty directories. Every other alias gets its own copy.
 */
function againArguments({ aliases: [first, ...rest] }: Pick<Layout, 'aliases'>): string[] {
  if (first === undefined) return []
  return [
    ...['--dev-bind-try', assembledRoot, first],
    ...[first, ...rest].flatMap((alias) => withoutEntries(first + alias, '0555')),
    ...rest.flatMap((alias) => ['--dev-bind-try', assembledRoot + first, alias]),
  ]
}

/** The parts of a command that form its tree. */
export type CommandTree = Omit<SandboxCommand, 'argv' | 'env' | 'cwd' | 'limits' | 'cgroup' | 'reserved'>

/** The highest number that a descriptor of a child can have. */
const lastDescriptor = 255
const prootBytes = 16 * 1024 * 1024

type Give = (source: DescriptorSource) => string
type Processes = 'read-only' | 'writable'

type GivenDescriptors = ReturnType<typeof giveDescriptors>

function giveDescriptors({ extraFds, contents, seccomp }: CommandTree) {
  const opened: number[] = []
  const fds = new Map<number, DescriptorSource>(extraFds)
  fds.set(descriptors.status, 'pipe')
  fds.set(descriptors.seccomp, contents.keep(seccomp))
  let next: number = descriptors.firstSource
  const give: Give = (source) => {
    if (next > lastDescriptor) throw tooMany()
    fds.set(next, source)
    return String(next++)
  }
  return {
    fds,
    give,
    copy(path: string) {
      const fd = openSync(path, 'r')
      opened.push(fd)
      return give(fd)
    },
    data: (content: Uint8Array) => give(contents.keep(content)),
    close() {
      for (const fd of opened) closeSync(fd)
    },
  }
}

export interface SandboxArguments {
  readonly argv: readonly string[]
  /** bubblewrap's options, for the descriptor of the arguments. bubblewrap reads them up to the end of file. */
  readonly options: Uint8Array
  /** Descriptors for bubblewrap. The caller must add the descriptor of the options. */
  readonly extraFds: Map<number, DescriptorSource>
  /** Closes the descriptors that were opened for the arguments. Call `close` right after the start. */
  close(): void
}

export function bubblewrapArguments(
  command: CommandTree,
  inside: readonly string[],
  describe: (given: GivenDescriptors) => readonly string[],
): SandboxArguments {
  const given = giveDescriptors(command)
  try {
    const options = [...describe(given), '--json-status-fd', String(descriptors.status)]
    return {
      argv: [...entered(command), command.bwrap, '--args', String(descriptors.arguments), '--', ...inside],
      options: Buffer.from(options.map((option) => `${option}\0`).join('')),
      extraFds: given.fds,
      close: given.close,
    }
  } catch (error) {
    given.close()
    throw error
  }
}

/** Returns a prefix that starts bubblewrap in the held network, because bubblewrap shares the network of its parent. */
function entered({ network }: CommandTree): string[] {
  return typeof network === 'object' ? enterArguments(network) : []
}

export function treeArguments(
  command: CommandTree,
  { give, copy, data }: GivenDescriptors,
  { outer, processes }: { readonly outer: Readonly<Record<string, string>>; readonly processes: Processes },
): string[] {
  const { layout, network } = command
  return [
    ...['--unshare-all', ...(network === 'none' ? [] : ['--share-net']), '--die-with-parent', '--new-session'],
    ...['--as-pid-1', '--cap-drop', 'ALL', '--clearenv'],
    ...Object.entries(outer).flatMap(([name, value]) => ['--setenv', name, value]),
    ...(command.direct === undefined ? builtRoot(command, { copy, data, give }, processes) : []),
    ...firstMounts(layout).flatMap((placement) =>
      placement.show === 'system'
        ? mountSystem(placement, { ...command, etc: command.direct?.etc }, give)
        : placementArguments(placement, command.sources, give),
    ),
    ...closedFirst(layout.placements),
    ...(layout.mode === 'direct' ? againArguments(layout) : []),
    ...(layout.mode === 'below' ? layout.aliases.flatMap((alias) => aliasArguments(alias, command)) : []),
    ...(command.direct === undefined ? ['--remount-ro', '/'] : []),
  ]
}

/** A root in memory, with the system's part of the tree. */
function builtRoot(
  { layout, system, tools, scratchBytes }: CommandTree,
  { copy, data, give }: Pick<GivenDescriptors, 'copy' | 'data' | 'give'>,
  processes: Processes,
): string[] {
  const isTranslated = layout.mode === 'translated'
  return [
    ...system.flatMap((entry) => systemArguments(entry, copy, data)),
    ...tools.flatMap(({ at, fd }) => ['--ro-bind-fd', give(fd), at]),
    ...['--proc', '/proc', ...(processes === 'read-only' ? ['--remount-ro', '/proc'] : []), '--dev', '/dev'],
    ...[...memory('/dev/shm', scratchBytes), '--remount-ro', '/dev'],
    ...(layout.hasTemporary ? [] : memory(isTranslated ? translatedTemporary : temporary, scratchBytes)),
    // The sandbox does not contain proot's own files, and proot looks for these only here.
    ...(isTranslated ? [...memory(temporary, prootBytes), '--dir', translatedRoot] : []),
  ]
}

function systemArguments(
  entry: SystemEntry,
  copy: (path: string) => string,
  data: (content: Uint8Array) => string,
): string[] {
  // After each mount, bubblewrap reads the mount table again; a copy costs almost nothing.
  if (entry.kind === 'file') return ['--perms', '0444', '--file', copy(entry.source), entry.at]
  if (entry.kind === 'data') return ['--perms', '0444', '--file', data(entry.content), entry.at]
  if (entry.kind === 'link') return ['--symlink', entry.target, entry.at]
  // Bound by path, not by descriptor: commands cannot replace directories of the system.
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
  // An empty directory stays readable: git and tar report unreadable entries as errors.
  return withoutEntries(at, show === 'empty' ? '0555' : '0000')
}

/** The mounts before the first copy of the tree. */
function firstMounts({ placements }: Layout): readonly Placement[] {
  const first = placements.findIndex(({ show }) => show === 'again')
  return first < 0 ? placements : placements.slice(0, first)
}

/** Makes closed directories read-only. At this point, the open parts inside them have their mount points. */
function closedFirst(placements: readonly Placement[]): string[] {
  return placements.filter(({ show }) => show === 'closed').flatMap(({ at }) => ['--remount-ro', at])
}

/** Returns arguments that link the system's names below an alias. Mounts below the alias are placements instead. */
function aliasArguments(alias: VirtualPath, { system, tools, layout }: CommandTree): string[] {
  return [...systemNames([...system, ...tools]), ...(layout.hasTemporary ? [] : ['tmp'])].flatMap((name) => [
    '--symlink',
    `/${name}`,
    `${alias}/${name}`,
  ])
}

function tooMany(): WorkspaceError {
  return execError('EUNENFORCEABLE', 'the policy has more parts than a command can be started with (about 200)', {
    remedy: 'protect whole directories instead of many single entries',
  })
}
