import type { CommandLimits, VirtualPath } from '@ws/core'
import type { HostPath } from '@ws/core/executor'
import type { DescriptorSource, ExtraDescriptors } from '@ws/sandbox'
import { type DelegatedCgroup, limitedCommand, type SystemEntry } from '@ws/sandbox'

import { descriptors, firstProcess, splitEnvironment } from './first-process.ts'
import { type HiddenNames, hidingCommand } from './hide/hide.ts'
import type { KeptContents } from './kept-contents.ts'
import { type LateCovers, type Layout, placeOf, temporary, translatedRoot, translatedTemporary } from './layout.ts'
import type { OpenedSources } from './sources.ts'
import { systemNames } from './system-mounts.ts'
import { giveDescriptors, joinOptions, treeArguments } from './tree-arguments.ts'

export interface SandboxCommand {
  readonly layout: Layout
  /** The parts that bubblewrap mounts itself. Default: all. */
  readonly split?: LateCovers | undefined
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

/**
 * bubblewrap's command line. Everything but the command itself travels by descriptor: command lines can be read by
 * every user of the host.
 *
 * @throws WorkspaceError `EUNENFORCEABLE` when the plan has more parts than there are descriptors
 */
export function sandboxArguments(command: SandboxCommand): SandboxArguments {
  const { layout, cwd } = command
  const given = giveDescriptors(command)
  const { fds, close } = given
  try {
    const environment = splitEnvironment(command.env)
    const isTranslated = layout.mode === 'translated'
    const outer = isTranslated ? { ...environment.outer, ...prootEnvironment } : environment.outer
    const args = [
      ...treeArguments(command, given, { outer, processes: 'read-only' }),
      ...['--chdir', placeOf(cwd, layout.mode)],
      ...['--json-status-fd', String(descriptors.status), '--seccomp', String(descriptors.seccomp)],
    ]
    fds.set(descriptors.report, 'pipe')
    fds.set(descriptors.commandError, 'pipe')
    // The first process, and proot, are processes of the same namespace.
    const limited = limitedCommand(command.argv, command.limits, {
      ownProcesses: isTranslated ? 2 : 1,
      cgroup: command.cgroup,
    })
    const first = firstProcess(limited, environment.inner)
    const inside = isTranslated ? [...prootArguments(command), ...first] : first
    const argv = [command.bwrap, '--args', String(descriptors.arguments), '--', ...inside]
    const hidden = command.direct?.hidden
    return {
      argv: hidden === undefined ? argv : hidingCommand({ hidden, start: descriptors.status, argv }),
      options: joinOptions(args),
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
