import type { VirtualPath } from '@ws/core'
import type { Owner } from '@ws/core/adapter'
import { type Authority, verdictOf } from '@ws/network/gate'
import type { AttachedExecutor, BindPlan, CommandRequest, Guarantees, StartedCommand } from '@ws/core/executor'
import {
  commandLine,
  followTerminal,
  HeldWork,
  KeptContents,
  type PipeMaker,
  plainRequest,
  resolveShell,
  startTerminal,
  type TerminalDevice,
  usePipes,
} from '@ws/process'
import {
  checkToolAccess,
  checkToolPlaces,
  type DelegatedCgroup,
  isSystemProgram,
  type NameKeeper,
  protectsRepository,
  reservationProblem,
  offersExtendedAttributes,
  sandboxProgram,
  type SystemEntry,
  systemTree,
  toolNames,
  toolPaths,
  useNameKeeper,
  viewEnvironment,
} from '@ws/sandbox'

import { type EtcDirectory, makeEtcDirectory } from './etc-directory.ts'
import { isAtRoot, layOut, splitLate } from './layout.ts'
import { heldLimits, limitsOf } from './limits.ts'
import { CommandNetwork, nameResolution, narrowed } from './network/named-network.ts'
import { trustIn } from './network/trust.ts'
import type { ResolvedOptions } from './options.ts'
import { checkReserved, prepare, rootFormOf, rootIdentity } from './prepare.ts'
import type { Programs } from './programs.ts'
import { startCommand } from './running.ts'
import { openSources, openTools } from './sources.ts'
import { useWarden, type Warden } from './warden.ts'
import { KeptNames } from './warm/kept-names.ts'
import { WarmPool } from './warm/pool.ts'

export interface AttachOptions {
  readonly root: VirtualPath
  readonly owner: Owner
  readonly options: ResolvedOptions
  readonly programs: Programs
  readonly guarantees: Guarantees
  /** Proves the names of hosts whose requests are judged. */
  readonly authority?: Authority | undefined
  /** Opened from the options. */
  readonly cgroup?: DelegatedCgroup | undefined
}

export function createAttached({
  root,
  owner,
  options,
  programs,
  guarantees,
  authority,
  cgroup,
}: AttachOptions): AttachedExecutor {
  const work = new HeldWork()
  const systems = new Map<string, readonly SystemEntry[]>()
  const limits = heldLimits(programs.bwrap, cgroup !== undefined)
  const contents = new KeptContents()
  const trust = authority && trustIn(authority)
  checkToolAccess(options.tools, owner, 'attach')
  let warden: Warden | undefined
  let pipes: PipeMaker | undefined
  let nameKeeper: NameKeeper | undefined
  const warm = options.warm ? new WarmPool({ owner, warden: () => (warden ??= useWarden()) }) : undefined
  const keptNames = options.warm !== false && options.warm.keepNames ? new KeptNames() : undefined
  /** A workspace with one command would start a supervisor for nothing. */
  let isFirst = true
  const keeper = () => {
    work.stopped.throwIfAborted()
    return (nameKeeper ??= useNameKeeper())
  }

  /** For each system tree. */
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

  /** With a terminal, a blank command is an interactive shell. */
  async function start(request: CommandRequest, plan: BindPlan, terminal?: TerminalDevice): Promise<StartedCommand> {
    await checkToolPlaces(options.tools, plan, 'exec')
    const shell = resolveShell({ shell: request.shell, existsInView: isSystemProgram })
    const whole = viewEnvironment({
      root: plan.root,
      cwd: request.cwd,
      cache: request.cache,
      shell,
      env: { ...(protectsRepository(plan) && { GIT_TEMPLATE_DIR: '' }), ...trust?.env, ...request.env },
      allow: options.env,
      toolPaths: toolPaths(options.tools),
      bare: request.bare,
    })
    const { argv, env, extraFds } = commandLine(request, { shell, env: whole, terminal })
    const system = systemFor(shell)
    const known = { owner, options, programs, keeper, keptNames }
    const { mode, held, mounted, hidden } = await prepare(plan, system, known)
    const release = held?.release
    let network: CommandNetwork | undefined
    let started: Promise<StartedCommand>
    try {
      const layout = layOut(plan, mode, mounted)
      const split = splitLate(layout)
      const { placements } = split.early
      const limits = limitsOf(request, options, layout)
      const isTranslated = mode === 'translated'
      const extendedAttributes = offersExtendedAttributes(plan)
      const seccomp = sandboxProgram({
        allowPtrace: isTranslated,
        forProot: isTranslated,
        interprocess: true,
        unixSockets: options.unixSockets === 'workspace',
        extendedAttributes,
      })
      request.signal?.throwIfAborted()
      warden ??= useWarden()
      pipes ??= usePipes()
      const startsFirst = isFirst
      isFirst = false
      network =
        typeof options.network === 'object'
          ? new CommandNetwork(narrowed(options.network, plan.hostRules), authority, request.onConnection)
          : undefined
      started = startCommand({
        request,
        owner,
        warden,
        keeper,
        release,
        network,
        onExposure: options.onExposure,
        // A command on a terminal has its streams there.
        pipes: terminal === undefined ? pipes : undefined,
        warm: terminal === undefined && !startsFirst ? warm : undefined,
        async withCommand(use) {
          using sources = await openSources(placements)
          const reserved = held?.identities ?? new Map()
          checkReserved(placements, sources, reserved)
          const { bwrap, proot } = programs
          using opened = await openTools(options.tools)
          const shared = options.network === 'host' ? 'host' : 'none'
          const scratchBytes = limits.scratchBytes ?? options.scratchBytes
          const direct = hidden && {
            etc: etcFor(system).fd,
            hidden: { identity: rootIdentity(plan, sources), names: hidden },
          }
          const common = {
            layout,
            split,
            sources,
            reserved,
            system,
            argv,
            env,
            cwd: request.cwd,
            extraFds,
            seccomp,
            contents,
            limits,
            direct,
          }
          return await use({ ...common, tools: opened.tools, network: shared, scratchBytes, cgroup, bwrap, proot })
        },
      })
      const running = await started
      return network === undefined ? running : network.follow(running)
    } catch (error) {
      await network?.close()
      await release?.()
      throw error
    }
  }

  return {
    guarantees,
    limits,
    topNames: toolNames(options.tools),
    refuseMissing: reservationProblem,
    ...(typeof options.network === 'object' && {
      explainConnection: verdictOf(options.network.list, options.network.requests),
    }),
    rootForm(plan) {
      if (!isAtRoot(plan)) return undefined
      const shell = resolveShell({ existsInView: isSystemProgram })
      return rootFormOf(plan, systemFor(shell), { options, programs })
    },
    spawn: (request, plan) => work.hold((signal) => start({ ...request, signal }, plan), request.signal),
    openTerminal: (request, plan) =>
      work.hold(async (signal) => {
        // Before the terminal, whose master it would inherit and keep.
        warden ??= useWarden()
        const { columns, rows } = request
        const device = await startTerminal({ columns, rows, owner, signal })
        const plain = { ...plainRequest(request, device), signal }
        return followTerminal({ request, device, start: () => start(plain, plan, device) })
      }, request.signal),
    async close() {
      try {
        await work.end()
      } finally {
        await warm?.close()
        await keptNames?.close()
        warden?.close()
        warden = undefined
        pipes?.close()
        pipes = undefined
        nameKeeper?.close()
        nameKeeper = undefined
        contents.close()
        for (const etc of etcs.values()) etc.close()
        etcs.clear()
      }
    },
  }
}
