import {
  type AttachedExecutor,
  type BindPlan,
  type CommandRequest,
  type Guarantees,
  type HostPath,
  type Owner,
  type RunningCommand,
  type VirtualPath,
  WorkspaceError,
} from '@ws/core'
import {
  checkToolAccess,
  checkToolPlaces,
  closedError,
  type DelegatedCgroup,
  followTerminal,
  HeldWork,
  interactiveShellArguments,
  isSystemProgram,
  KeptContents,
  type PipeMaker,
  type NameKeeper,
  plainRequest,
  protectsRepository,
  reservationProblem,
  resolveShell,
  offersExtendedAttributes,
  sandboxProgram,
  shellInvocation,
  startTerminal,
  type SystemEntry,
  systemTree,
  terminalCommand,
  type TerminalDevice,
  toolPaths,
  useNameKeeper,
  usePipes,
  viewEnvironment,
  type WantedName,
} from '@ws/process'

import { layOut, type Placement } from './layout.ts'
import { heldLimits, limitsOf } from './limits.ts'
import type { ResolvedOptions } from './options.ts'
import type { Programs } from './programs.ts'
import { startCommand } from './running.ts'
import { type OpenedSources, openSources } from './sources.ts'
import { openTools } from './tools.ts'
import { useWarden, type Warden } from './warden.ts'

export interface AttachOptions {
  readonly root: VirtualPath
  readonly owner: Owner
  readonly options: ResolvedOptions
  readonly programs: Programs
  readonly guarantees: Guarantees
  /** Opened from the options. */
  readonly cgroup?: DelegatedCgroup | undefined
}

export function createAttached({
  root,
  owner,
  options,
  programs,
  guarantees,
  cgroup,
}: AttachOptions): AttachedExecutor {
  const work = new HeldWork()
  const systems = new Map<string, readonly SystemEntry[]>()
  const stop = new AbortController()
  const limits = heldLimits(programs.bwrap, cgroup !== undefined)
  const contents = new KeptContents()
  checkToolAccess(options.tools, owner, 'attach')
  let warden: Warden | undefined
  let pipes: PipeMaker | undefined
  let nameKeeper: NameKeeper | undefined
  const keeper = () => (nameKeeper ??= useNameKeeper())

  function systemFor(shell: string): readonly SystemEntry[] {
    const known = systems.get(shell) ?? systemTree({ root, owner, shell, network: options.network === 'host' })
    systems.set(shell, known)
    return known
  }

  /** With a terminal, a blank command is an interactive shell. */
  async function start(request: CommandRequest, plan: BindPlan, terminal?: TerminalDevice): Promise<RunningCommand> {
    const layout = layOut(plan)
    const limits = limitsOf(request, options, layout)
    checkToolPlaces(options.tools, [plan.root, ...plan.aliases, ...plan.binds.map(({ at }) => at)], 'exec')
    const shell = resolveShell({ shell: request.shell, existsInView: isSystemProgram })
    const { login, bare } = request
    const invocation =
      terminal !== undefined && request.command === ''
        ? { argv: interactiveShellArguments(shell, { login, bare }), extraFds: new Map() }
        : shellInvocation(shell, request.command, { login, bare })
    const whole = viewEnvironment({
      root: plan.root,
      cwd: request.cwd,
      shell,
      env: protectsRepository(plan) ? { GIT_TEMPLATE_DIR: '', ...request.env } : request.env,
      allow: options.env,
      toolPaths: toolPaths(options.tools),
      bare,
    })
    const plain = { argv: invocation.argv, env: whole, extraFds: new Map() }
    const onTerminal = terminal ? terminalCommand(plain.argv, plain.env, terminal.descriptor) : plain
    const { argv, env } = onTerminal
    const extraFds = new Map([...invocation.extraFds, ...onTerminal.extraFds])
    const nested = layout.mode === 'nested'
    if (nested && programs.proot === undefined) throw needsProot()
    const extendedAttributes = offersExtendedAttributes(plan)
    const seccomp = sandboxProgram({
      allowPtrace: nested,
      forProot: nested,
      interprocess: true,
      unixSockets: options.unixSockets === 'workspace',
      extendedAttributes,
    })
    const signal = request.signal === undefined ? stop.signal : AbortSignal.any([request.signal, stop.signal])
    warden ??= useWarden()
    pipes ??= usePipes()
    const wanted = missingNames(plan)
    const held = wanted.length === 0 ? undefined : await keeper().reserve(wanted, owner)
    const started = startCommand({
      request: { ...request, signal },
      owner,
      warden,
      keeper,
      release: held?.release,
      // A command on a terminal has its streams there.
      pipes: terminal === undefined ? pipes : undefined,
      async withCommand(use) {
        using sources = await openSources(layout.placements)
        const reserved = held?.identities ?? new Map()
        checkReserved(layout.placements, sources, reserved)
        const { bwrap, proot } = programs
        using opened = await openTools(options.tools)
        const { network } = options
        const scratchBytes = limits.scratchBytes ?? options.scratchBytes
        const system = systemFor(shell)
        const common = {
          layout,
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
        }
        return await use({ ...common, tools: opened.tools, network, scratchBytes, cgroup, bwrap, proot })
      },
    })
    try {
      return await started
    } catch (error) {
      await held?.release()
      throw error
    }
  }

  return {
    guarantees,
    limits,
    refuseMissing: reservationProblem,
    spawn: (request, plan) => work.hold(() => start(request, plan)),
    openTerminal: (request, plan) =>
      work.hold(async () => {
        // Before the terminal, whose master it would inherit and keep.
        warden ??= useWarden()
        const { columns, rows, signal } = request
        const device = await startTerminal({ columns, rows, owner, signal })
        return followTerminal({ request, device, start: () => start(plainRequest(request, device), plan, device) })
      }),
    async close() {
      stop.abort(closedError())
      await work.end()
      warden?.close()
      warden = undefined
      pipes?.close()
      pipes = undefined
      nameKeeper?.close()
      nameKeeper = undefined
      contents.close()
    },
  }
}

function missingNames({ binds }: BindPlan): WantedName[] {
  return binds.flatMap(({ missing, at, rules }) =>
    missing === undefined ? [] : [{ name: missing, at, rule: rules[0] }],
  )
}

/** What was opened at a reserved name must be what holds it. */
function checkReserved(
  placements: readonly Placement[],
  sources: OpenedSources,
  reserved: ReadonlyMap<HostPath, string>,
): void {
  for (const { beneath, virtual, rule } of placements) {
    if (beneath === undefined || !reserved.has(beneath) || sources.identity(beneath) === reserved.get(beneath)) continue
    throw new WorkspaceError({
      code: 'EBUSY',
      operation: 'exec',
      path: virtual,
      rule,
      reason: 'appeared or changed while the command was started',
      remedy: 'run the command again',
    })
  }
}

function needsProot(): WorkspaceError {
  return new WorkspaceError({
    code: 'ENOEXECUTOR',
    operation: 'exec',
    reason: 'a mount at `/` takes proot, which is not installed',
    remedy: '`apt-get install proot`, or mount at /workspace',
  })
}
