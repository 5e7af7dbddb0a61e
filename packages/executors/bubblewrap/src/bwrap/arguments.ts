import type { CommandLimits, VirtualPath } from '@ws/core'
import type { HostPath } from '@ws/core/executor'
import { type Descriptors, Limits, type SystemEntry } from '@ws/sandbox'

import { descriptors, firstProcess, splitEnvironment } from '../processes/first-process.ts'
import { type HiddenNames, hidingCommand } from '../hide/hide.ts'
import type { HeldNetwork } from '../processes/held-network.ts'
import type { KeptContents } from './kept-contents.ts'
import {
  type SplitLayout,
  type Layout,
  placeOf,
  temporary,
  translatedRoot,
  translatedTemporary,
} from '../view/layout.ts'
import type { OpenedSources } from '../view/sources.ts'
import { systemNames } from '../view/system-mounts.ts'
import { bubblewrapArguments, type SandboxArguments, treeArguments } from './tree-arguments.ts'

export interface SandboxCommand {
  readonly layout: Layout
  /** The mounts that bubblewrap makes, and the covers that are mounted later. Default: bubblewrap makes every mount. */
  readonly split?: SplitLayout | undefined
  readonly sources: OpenedSources
  readonly reserved: ReadonlyMap<HostPath, string>
  readonly system: readonly SystemEntry[]
  readonly tools: readonly { readonly at: string; readonly fd: number }[]
  readonly direct?: DirectRoot | undefined
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: VirtualPath
  /** Descriptors for the command itself. */
  readonly extraFds: Descriptors.ExtraDescriptors
  readonly seccomp: Uint8Array
  /** Content that is equal for every command. Only bubblewrap has the descriptors of this content. */
  readonly contents: KeptContents
  /** `none`: the sandbox makes a network of its own. */
  readonly network: 'none' | 'host' | HeldNetwork
  readonly scratchBytes: number
  readonly limits: CommandLimits
  readonly cgroup?: Limits.DelegatedCgroup | undefined
  readonly bwrap: string
  readonly proot?: string | undefined
}

export interface DirectRoot {
  readonly etc: number | undefined
  readonly hidden: HiddenNames
}

/**
 * Builds bubblewrap's arguments. Only the command is an argument of the process, since every user can read command lines.
 * @throws WorkspaceError `EUNENFORCEABLE` when the plan has more parts than there are descriptors
 */
export function sandboxArguments(command: SandboxCommand): SandboxArguments {
  const { layout, cwd } = command
  const environment = splitEnvironment(command.env)
  const isTranslated = layout.mode === 'translated'
  const outer = isTranslated ? { ...environment.outer, ...prootEnvironment } : environment.outer
  // The first process and proot count towards the limit, because both are in the command's namespace.
  const limited = Limits.limitedCommand(command.argv, command.limits, {
    ownProcesses: isTranslated ? 2 : 1,
    cgroup: command.cgroup,
  })
  const first = firstProcess(limited, environment.inner)
  const inside = isTranslated ? [...prootArguments(command), ...first] : first
  const whole = bubblewrapArguments(command, inside, (given) => {
    for (const own of [descriptors.report, descriptors.commandError]) given.fds.set(own, 'pipe')
    return [
      ...treeArguments(command, given, { outer, processes: 'read-only' }),
      ...['--chdir', placeOf(cwd, layout.mode), '--seccomp', String(descriptors.seccomp)],
    ]
  })
  const hidden = command.direct?.hidden
  if (hidden === undefined) return whole
  return { ...whole, argv: hidingCommand({ hidden, start: descriptors.status, argv: whole.argv }) }
}

// Without this variable, proot makes mount points on the workspace's own disk [RP18].
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
