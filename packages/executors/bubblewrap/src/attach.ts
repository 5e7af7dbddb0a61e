import { type Authority, verdictOf } from '@ws/network/gate'
import type { BindPlan, CommandRequest, SharedLoopback } from '@ws/core/executor'
import {
  type CommandDriver,
  commandLine,
  type CommandPort,
  type CommandRun,
  type ConfinedTarget,
  Descriptors,
  HostPaths,
  isSystemProgram,
  Limits,
  type PreparedCommand,
  Reserve,
  resolveShell,
  sandboxProgram,
  type SystemEntry,
  systemTree,
  type TerminalDevice,
  Tools,
  viewEnvironment,
} from '@ws/sandbox'

import type { SandboxCommand } from './bwrap/arguments.ts'
import { type EtcDirectory, makeEtcDirectory } from './view/etc-directory.ts'
import { KeptContents } from './bwrap/kept-contents.ts'
import { isAtRoot, layOut, splitLate } from './view/layout.ts'
import { heldLimits, limitsOf } from './limits.ts'
import { type CommandNetwork, nameResolution } from './network/named-network.ts'
import { Networks } from './loopback/networks.ts'
import { listeningPorts, Publisher } from './loopback/publisher.ts'
import { trustIn } from './network/trust.ts'
import type { ResolvedOptions } from './options.ts'
import { explainFailure, portOf } from './run/port.ts'
import type { SandboxStart } from './run/sandbox.ts'
import { checkReserved, prepareTree, rootFormOf, rootIdentity } from './view/prepare-tree.ts'
import type { Programs } from './programs.ts'
import { startSandbox } from './start/start.ts'
import { openSources, openTools } from './view/sources.ts'
import { useStartGuard, type StartGuard } from './processes/start-guard.ts'
import { KeptNames } from './view/kept-names.ts'
import { WarmPool } from './warm/pool.ts'
import { launchNext, untilAborted } from './warm/start.ts'

interface PreparedSandbox extends PreparedCommand {
  readonly command: SandboxCommand
  readonly network: CommandNetwork | undefined
  readonly isOnTerminal: boolean
  readonly release: () => Promise<void>
}

export interface AttachOptions {
  readonly authority?: Authority | undefined
  readonly cgroup?: Limits.DelegatedCgroup | undefined
}

export function attachBubblewrap(
  { root, owner }: ConfinedTarget,
  programs: Programs,
  options: ResolvedOptions,
  { authority, cgroup = Limits.attachCgroup(options.cgroup) }: AttachOptions = {},
): CommandDriver {
  const systems = new Map<string, readonly SystemEntry[]>()
  const limits = heldLimits(programs.bwrap, cgroup !== undefined)
  const contents = new KeptContents()
  const trust = authority && trustIn(authority)
  Tools.checkToolAccess(options.tools, owner, 'attach')
  let guard: StartGuard | undefined
  let pipes: Descriptors.PipeMaker | undefined
  let nameKeeper: Reserve.NameKeeper | undefined
  const guardOf = () => (guard ??= useStartGuard())
  const warm = options.warm ? new WarmPool({ owner, guard: guardOf }) : undefined
  const networks = new Networks({ options, authority, bwrap: programs.bwrap, owner, guard: guardOf })
  const keptNames = options.warm !== false && options.warm.keepNames ? new KeptNames() : undefined
  const publisher = new Publisher(owner)
  let isFirst = true
  const keeperFor =
    ({ signal }: CommandRequest) =>
    () => {
      signal?.throwIfAborted()
      return (nameKeeper ??= Reserve.useNameKeeper())
    }

  const etcs = new Map<readonly SystemEntry[], EtcDirectory>()

  function etcFor(system: readonly SystemEntry[]): EtcDirectory {
    const known = etcs.get(system) ?? makeEtcDirectory(system)
    etcs.set(system, known)
    return known
  }

  function systemFor(shell: string): readonly SystemEntry[] {
    const known =
      systems.get(shell) ??
      systemTree({ root, owner, shell, ...nameResolution(options.network), certificates: trust?.certificates })
    systems.set(shell, known)
    return known
  }

  async function prepare(plan: BindPlan, request: CommandRequest, terminal?: TerminalDevice): Promise<PreparedSandbox> {
    request.signal?.throwIfAborted()
    const joining = networks.join(request, plan.hostRules)
    joining.catch(() => undefined) // awaited below
    await Tools.checkToolPlaces(options.tools, plan, 'exec')
    const { cwd, cache, bare } = request
    const shell = resolveShell({ shell: request.shell, existsInView: isSystemProgram })
    const whole = viewEnvironment({
      root: plan.root,
      cwd,
      cache,
      shell,
      env: { ...(protectsRepository(plan) && { GIT_TEMPLATE_DIR: '' }), ...trust?.env, ...request.env },
      allow: options.env,
      toolPaths: Tools.toolPaths(options.tools),
      bare,
    })
    const { argv, env, extraFds } = commandLine(request, { shell, env: whole, terminal })
    const system = systemFor(shell)
    request.signal?.throwIfAborted()
    const { mode, held, mounted, hidden } = await prepareTree(plan, system, {
      owner,
      options,
      programs,
      keeper: keeperFor(request),
      keptNames,
    })
    const opened: Disposable[] = []
    const close = () => opened.splice(0).forEach((one) => one[Symbol.dispose]())
    let network: CommandNetwork | undefined
    let released: Promise<unknown> | undefined
    const release = async () => void (await (released ??= Promise.all([network?.close(), held?.release()])))
    try {
      const layout = layOut(plan, mode, mounted)
      const split = splitLate(layout)
      const limits = limitsOf(request, options, layout)
      const isTranslated = mode === 'translated'
      const seccomp = sandboxProgram({
        allowPtrace: isTranslated,
        forProot: isTranslated,
        interprocess: true,
        unixSockets: options.unixSockets === 'workspace',
        extendedAttributes: HostPaths.offersExtendedAttributes(plan),
      })
      request.signal?.throwIfAborted()
      const { placements } = split.mounted
      const sources = await openSources(placements)
      opened.push(sources)
      const reserved = held?.identities ?? new Map()
      checkReserved(placements, sources, reserved)
      const tools = await openTools(options.tools)
      opened.push(tools)
      const direct = hidden && {
        etc: etcFor(system).fd,
        hidden: { identity: rootIdentity(plan, sources), names: hidden },
      }
      // as late as possible: for the first command, the network is being made
      const joined = await untilAborted(joining, request.signal)
      network = joined.named
      const command: SandboxCommand = {
        ...{ layout, split, sources, reserved, system, argv, env, cwd, extraFds, seccomp, contents, limits, direct },
        ...{ tools: tools.tools, cgroup, bwrap: programs.bwrap, proot: programs.proot },
        network: joined.network,
        scratchBytes: limits.scratchBytes ?? options.scratchBytes,
      }
      return { command, network, isOnTerminal: terminal !== undefined, close, release }
    } catch (error) {
      close()
      await release()
      throw error
    }
  }

  async function start(
    { command, network, isOnTerminal, release }: PreparedSandbox,
    { request, hasInput, onStdout, onStderr }: CommandRun,
  ): Promise<CommandPort> {
    request.signal?.throwIfAborted()
    pipes ??= Descriptors.usePipes()
    const startsFirst = isFirst
    isFirst = false
    const start: SandboxStart = {
      ...{ command, owner, guard: guardOf(), keeper: keeperFor(request), network, hasInput, onStdout, onStderr },
      signal: request.signal,
      onExposure: options.onExposure,
      // With a terminal, the terminal replaces the pipes of the command's streams.
      pipes: isOnTerminal ? undefined : pipes,
    }
    const sandbox = await startSandbox(start, isOnTerminal || startsFirst ? undefined : warm)
    // The first command starts without a supervisor, and then starts a supervisor for later commands.
    if (startsFirst && !isOnTerminal && warm !== undefined) launchNext(warm, command)
    return portOf(sandbox, { network, release })
  }

  return {
    facts: {
      limits,
      topNames: Tools.toolNames(options.tools),
      refuseMissing: Reserve.reservationProblem,
      ...(options.network !== 'host' &&
        options.loopback === 'workspace' && { loopback: loopbackOf(options, networks, publisher) }),
      ...(typeof options.network === 'object' && {
        explainConnection: verdictOf(options.network.list, options.network.requests),
      }),
      rootForm(plan) {
        if (!isAtRoot(plan)) return undefined
        const shell = resolveShell({ existsInView: isSystemProgram })
        return rootFormOf(plan, systemFor(shell), { options, programs })
      },
    },
    hasTerminals: true,
    prepare,
    start,
    explainFailure,
    async close() {
      publisher.close()
      await Promise.all([warm?.close(), networks.close()])
      await keptNames?.close()
      for (const one of [guard, pipes, nameKeeper, contents, ...etcs.values()]) one?.close()
      guard = pipes = nameKeeper = undefined
      etcs.clear()
    },
  }
}

function loopbackOf({ network }: ResolvedOptions, networks: Networks, publisher: Publisher): SharedLoopback {
  const gatePorts = typeof network === 'object' ? network.list.ports : []
  return {
    async ports(rules) {
      const held = await networks.held(rules)
      return held === undefined ? [] : listeningPorts(held, gatePorts)
    },
    publish: (port, request) => publisher.publish(port, request, () => networks.held(request.rules)),
  }
}

/** True if the plan protects a part of `.git`: git then fails to copy its templates, unless `GIT_TEMPLATE_DIR` is empty. */
function protectsRepository({ binds }: Pick<BindPlan, 'binds'>): boolean {
  return binds.some(({ at, access }) => access !== 'read-write' && /\/\.git\//.test(at))
}
