import { type VirtualPath, WorkspaceError } from '@ws/core'
import type { Owner } from '@ws/core/adapter'
import {
  type AttachedExecutor,
  type BindPlan,
  type CommandRequest,
  type StartedCommand,
  type Terminal,
  type TerminalRequest,
  requireLimits,
} from '@ws/core/executor'
import {
  createCommandOutput,
  followTerminal,
  interactiveShellArguments,
  type PipeMaker,
  type PipePair,
  plainRequest,
  resolveShell,
  shellInvocation,
  startProcess,
  startTerminal,
  takePipes,
  temporaryRemedy,
  terminalCommand,
  type TerminalDevice,
  usePipes,
  withPipes,
} from '@ws/process'
import {
  checkToolAccess,
  checkToolPlaces,
  confineArgv,
  type DelegatedCgroup,
  HeldWork,
  isSystemProgram,
  isToolWritable,
  type LandlockRule,
  limitedCommand,
  narrowedLimits,
  offersExtendedAttributes,
  resourceLimits,
  sandboxProgram,
  toolNames,
  toolPaths,
  viewEnvironment,
  writableToolError,
} from '@ws/sandbox'
import { accessSync, chmodSync, constants, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { namespacePrefix, prootArguments } from './command-line.ts'
import { composeView } from './compose.ts'
import { Covers } from './covers.ts'
import { errorDescriptor, firstProcess } from './first-process.ts'
import { type Confinement, guaranteesOf } from './guarantees.ts'
import { joining } from './join.ts'
import { heldLimits } from './limits.ts'
import type { ResolvedOptions } from './options.ts'
import { RunDirectories } from './run-directories.ts'
import { followCommand } from './running.ts'
import { createRuntimeDirectory, removeTree } from './runtime-directory.ts'
import { SkeletonCache } from './skeleton.ts'
import { createSystemPart, type SystemPart } from './system.ts'

/** The machine's parts that an attached executor runs with; found by the probe. */
export interface Machine extends Confinement {
  /** Host path of proot. */
  readonly proot: string
  /** proot's loader, as it is inside the program. */
  readonly loader: Uint8Array
}

export interface AttachOptions {
  readonly machine: Machine
  readonly options: ResolvedOptions
  readonly root: VirtualPath
  /** Never uid 0. */
  readonly owner: Owner
  /** Opened from the options. */
  readonly cgroup?: DelegatedCgroup | undefined
}

export function attachProot(attachment: AttachOptions): AttachedExecutor {
  return new AttachedProot(attachment)
}

/** @throws WorkspaceError `ENOEXECUTOR` where the file system is mounted `noexec` */
function requireExecutable(loader: string): void {
  try {
    accessSync(loader, constants.X_OK)
  } catch (native) {
    throw new WorkspaceError({
      code: 'ENOEXECUTOR',
      operation: 'attach',
      reason: 'no program can be run from the directory for temporary files, which is mounted `noexec`',
      remedy: temporaryRemedy,
      native,
    })
  }
}

/** The executor's own processes in the control group of a command: the supervisor, proot, the first process. */
const ownProcesses = 3

/** Bytes kept of what proot itself prints. */
const longestError = 4096

interface StandardPipes {
  readonly stdoutPipe?: PipePair | undefined
  readonly stdinPipe?: PipePair | undefined
  /** For the command's standard error. */
  readonly errors?: PipePair | undefined
}

class AttachedProot implements AttachedExecutor {
  readonly guarantees
  readonly limits
  readonly topNames
  readonly #attachment: AttachOptions
  readonly #directory: string
  readonly #system: SystemPart
  readonly #skeletons: SkeletonCache
  readonly #covers: Covers
  readonly #runs: RunDirectories
  readonly #work = new HeldWork()
  #pipes: PipeMaker | undefined

  constructor(attachment: AttachOptions) {
    const { machine, options, root, owner } = attachment
    this.#attachment = attachment
    this.guarantees = guaranteesOf(machine)
    this.topNames = toolNames(options.tools)
    this.limits = heldLimits(machine, attachment.cgroup !== undefined)
    requireLimits(options.limits, { executor: 'proot', reports: this.limits, operation: 'attach' })
    checkToolAccess(options.tools, owner, 'attach')
    const writable = machine.landlockAbi > 0 ? undefined : options.tools.find((tool) => isToolWritable(tool, owner))
    if (writable !== undefined) throw writableToolError(writable)
    this.#directory = createRuntimeDirectory()
    try {
      const loader = this.#loaderPath()
      writeFileSync(loader, machine.loader)
      chmodSync(loader, 0o555)
      requireExecutable(loader)
      mkdirSync(join(this.#directory, 'system'))
      const proc = machine.pidNamespace ? 'all' : machine.landlockAbi > 0 ? 'closed' : 'none'
      const directory = join(this.#directory, 'system')
      this.#system = createSystemPart({ directory, root, owner, tools: options.tools, proc })
      chmodSync(directory, 0o755)
      this.#skeletons = new SkeletonCache(this.#directory)
      this.#covers = new Covers(this.#directory)
      this.#runs = new RunDirectories(this.#directory, owner)
    } catch (error) {
      removeTree(this.#directory)
      throw error
    }
  }

  /** A bind lies over a missing name as well, and leaves nothing on the disk. */
  refuseMissing(): undefined {
    return undefined
  }

  spawn(request: CommandRequest, plan: BindPlan): Promise<StartedCommand> {
    return this.#work.hold((stop) => this.#start(request, plan, stop), request.signal)
  }

  openTerminal(request: TerminalRequest, plan: BindPlan): Promise<Terminal> {
    const { columns, rows } = request
    return this.#work.hold(async (stop) => {
      const { owner } = this.#attachment
      const device = await startTerminal({ columns, rows, owner, signal: stop })
      const start = () => this.#start(plainRequest(request, device), plan, stop, device)
      return followTerminal({ request, device, start })
    }, request.signal)
  }

  async close(): Promise<void> {
    try {
      await this.#work.end()
    } finally {
      this.#pipes?.close()
      this.#pipes = undefined
      this.#runs.close()
      removeTree(this.#directory)
    }
  }

  /**
   * With a terminal, a blank command is an interactive shell.
   *
   * @param stop nothing is started any more once it is aborted
   */
  async #start(
    request: CommandRequest,
    plan: BindPlan,
    stop: AbortSignal,
    terminal?: TerminalDevice,
  ): Promise<StartedCommand> {
    const { machine, owner, options, cgroup } = this.#attachment
    const limits = narrowedLimits(options, request.limits)
    const ownLimits = resourceLimits(limits, cgroup)
    await checkToolPlaces(options.tools, plan, 'exec')
    const group = cgroup?.make(limits, { ownProcesses })
    const run = this.#runs.take()
    const cleanUp = async () => {
      await group?.end()
      this.#runs.drop(run)
    }
    try {
      const shell = this.#shell(request)
      const { login, bare } = request
      const invocation =
        terminal !== undefined && request.command === ''
          ? { argv: interactiveShellArguments(shell, { login, bare }), extraFds: new Map() }
          : shellInvocation(shell, request.command, { login, bare })
      const plain = { argv: invocation.argv, env: this.#environment(request, plan, shell), extraFds: new Map() }
      const { argv, env, extraFds } = terminal ? terminalCommand(plain.argv, plain.env, terminal.descriptor) : plain
      const landlock = machine.landlockAbi > 0
      // Without Landlock, a command of this process's own uid could write to them: then each gets its own.
      const writable = !landlock && process.getuid?.() === owner.uid
      const skeletons = writable ? new SkeletonCache(run.path) : this.#skeletons
      const covers = writable ? new Covers(run.path) : this.#covers
      const view = await composeView({ plan, system: this.#system, run, landlock, skeletons, covers })
      try {
        stop.throwIfAborted()
        // Before there is anything that has to be started at once.
        const { errors, ...pipes } = await this.#standardPipes(request, terminal)
        const confined = withPipes([errors, pipes.stdoutPipe, pipes.stdinPipe], () => {
          stop.throwIfAborted()
          const first = firstProcess({
            argv: limitedCommand(argv, ownLimits, { ownProcesses: 2 }),
            env,
            cwd: request.cwd,
            etc: this.#system.etc,
          })
          return confineArgv({
            argv: [...prootArguments(machine.proot, view, run.path), ...first.argv],
            env: this.#tracerEnvironment(run.path),
            seccomp: sandboxProgram({
              forProot: true,
              allowPtrace: true,
              interprocess: machine.pidNamespace,
              extendedAttributes: offersExtendedAttributes(plan),
              // Landlock grants descriptors for reading, which can change the attributes of files in a read-only mount.
              attributeChanges: !plan.binds.some(({ kind, access }) => kind === 'mount' && access === 'read-only'),
            }),
            owner,
            supervise: !machine.pidNamespace,
            // The namespace's first process forgets its parent when it changes its uid.
            dieWithParent: machine.pidNamespace,
            killGrace: request.killGrace,
            extraFds: new Map([...first.extraFds, ...invocation.extraFds, ...extraFds]),
            landlock: landlock ? { rules: [...view.rules, this.#loaderRule(), ...terminalRules(terminal)] } : undefined,
          })
        })
        const output = createCommandOutput(request)
        const whole = {
          extraFds: errors ? new Map([...confined.extraFds, [errorDescriptor, errors]]) : confined.extraFds,
          argv: [...(machine.pidNamespace ? namespacePrefix() : []), ...confined.argv],
        }
        const joined = group && joining(group, whole)
        const started = startProcess({
          ...confined,
          ...pipes,
          ...(joined ?? whole),
          stdin: request.stdin ?? 'none',
          timeout: request.timeout,
          signal: request.signal,
          killGrace: request.killGrace,
          drainGrace: 0,
          maxOutputBytes: longestError,
          onStdout: output.onStdout,
        })
        joined?.letGo(started)
        return followCommand({ request, process: started, output, cleanUp })
      } finally {
        view.release()
      }
    } catch (error) {
      await cleanUp()
      throw error
    }
  }

  /** A command on a terminal has its streams there. */
  async #standardPipes(request: CommandRequest, terminal: TerminalDevice | undefined): Promise<StandardPipes> {
    if (terminal !== undefined) return {}
    const { owner } = this.#attachment
    this.#pipes ??= usePipes()
    const wanted = ['stdout', 'errors', ...(request.stdin === undefined ? [] : ['stdin'])]
    const [stdoutPipe, errors, stdinPipe] = await takePipes(this.#pipes, wanted.length, owner)
    return { stdoutPipe, errors, stdinPipe }
  }

  #shell(request: CommandRequest): string {
    const tools = this.#attachment.options.tools
    return resolveShell({
      shell: request.shell,
      existsInView: (path) =>
        isSystemProgram(path) || tools.some(({ at, host }) => at === host && path.startsWith(`${at}/`)),
    })
  }

  #environment(request: CommandRequest, plan: BindPlan, shell: string): Record<string, string> {
    const { env: allow, tools } = this.#attachment.options
    return viewEnvironment({
      root: plan.root,
      cwd: request.cwd,
      cache: request.cache,
      shell,
      env: request.env,
      allow,
      toolPaths: toolPaths(tools),
      bare: request.bare,
    })
  }

  /** The environment of proot alone: the first process gives the command another one. */
  #tracerEnvironment(directory: string): Record<string, string> {
    return {
      PROOT_DONT_POLLUTE_ROOTFS: '1',
      PROOT_LOADER: this.#loaderPath(),
      // Versions that know it would write there; with a loader and a complete skeleton there is nothing to write.
      PROOT_TMP_DIR: directory,
    }
  }

  #loaderPath(): string {
    return join(this.#directory, 'loader')
  }

  #loaderRule() {
    return { source: this.#loaderPath(), access: ['read', 'execute'] } as const
  }
}

/** Its own terminal can be opened once more, as `/dev/stderr`. */
function terminalRules(terminal: TerminalDevice | undefined): LandlockRule[] {
  return terminal === undefined ? [] : [{ source: { fd: terminal.descriptor }, access: ['read', 'write'] }]
}
