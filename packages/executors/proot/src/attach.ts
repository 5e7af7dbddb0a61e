import { WorkspaceError } from '@ws/core'
import { type BindPlan, commandLimits, type CommandRequest } from '@ws/core/executor'
import {
  type CommandDriver,
  commandLine,
  confineArgv,
  type ConfinedTarget,
  Descriptors,
  HostPaths,
  isSystemProgram,
  type Landlock,
  Limits,
  resolveShell,
  sandboxProgram,
  Temporary,
  type TerminalDevice,
  Tools,
  viewEnvironment,
} from '@ws/sandbox'
import { accessSync, chmodSync, constants, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { namespacePrefix, prootArguments } from './command-line.ts'
import { composeView } from './compose.ts'
import { Covers } from './covers.ts'
import { explainFailure } from './ends.ts'
import { errorDescriptor, firstProcess } from './first-process.ts'
import type { Machine } from './guarantees.ts'
import { joining } from './join.ts'
import { heldLimits } from './limits.ts'
import type { ResolvedOptions } from './options.ts'
import { RunDirectories } from './run-directories.ts'
import { createRuntimeDirectory, removeTree } from './runtime-directory.ts'
import { SkeletonCache } from './skeleton.ts'
import { type ProotCommand, startProot } from './start.ts'
import { createSystemPart } from './system.ts'

/** @throws WorkspaceError `ENOEXECUTOR` for a file system mounted `noexec` */
function requireExecutable(loader: string): void {
  try {
    accessSync(loader, constants.X_OK)
  } catch (native) {
    throw new WorkspaceError({
      code: 'ENOEXECUTOR',
      operation: 'attach',
      reason: 'no program can be run from the directory for temporary files, which is mounted `noexec`',
      remedy: Temporary.temporaryRemedy,
      native,
    })
  }
}

/** The executor's processes in a command's control group: supervisor, proot, first process. */
const ownProcesses = 3

/** Limit of proot's own output in bytes. */
const longestError = 4096

/** @param cgroup a control group that the caller opened for the options */
export function attachProot(
  { root, owner }: ConfinedTarget,
  machine: Machine,
  options: ResolvedOptions,
  cgroup: Limits.DelegatedCgroup | undefined = Limits.attachCgroup(options.cgroup),
): CommandDriver {
  const { tools, env: allow } = options
  const hasLandlock = machine.landlockAbi > 0
  const limits = heldLimits(machine, cgroup !== undefined)
  commandLimits.require(options.limits, { executor: 'proot', reports: limits, operation: 'attach' })
  Tools.checkToolAccess(tools, owner, 'attach')
  if (!hasLandlock) Tools.refuseWritableTools(tools, owner)
  const directory = createRuntimeDirectory()
  const { loader, system } = makeParts()
  const skeletons = new SkeletonCache(directory)
  const covers = new Covers(directory)
  const runs = new RunDirectories(directory, owner)
  let pipes: Descriptors.PipeMaker | undefined

  function makeParts() {
    try {
      const loader = join(directory, 'loader')
      writeFileSync(loader, machine.loader)
      chmodSync(loader, 0o555)
      requireExecutable(loader)
      const proc = machine.pidNamespace ? 'all' : hasLandlock ? 'closed' : 'none'
      const path = join(directory, 'system')
      mkdirSync(path)
      const system = createSystemPart({ directory: path, root, owner, tools, proc })
      chmodSync(path, 0o755)
      return { loader, system }
    } catch (error) {
      removeTree(directory)
      throw error
    }
  }

  async function prepare(plan: BindPlan, request: CommandRequest, terminal?: TerminalDevice): Promise<ProotCommand> {
    const limits = Limits.narrowedLimits(options, request.limits)
    await Tools.checkToolPlaces(tools, plan, 'exec')
    const group = cgroup?.make(limits, { ownProcesses })
    const run = runs.take()
    let released: Promise<void> | undefined
    const cleanUp = async () => {
      await group?.end()
      runs.drop(run)
    }
    const release = () => (released ??= cleanUp())
    try {
      const { cwd, cache, bare, killGrace } = request
      const shell = resolveShell({
        shell: request.shell,
        existsInView: (path) =>
          isSystemProgram(path) || tools.some(({ at, host }) => at === host && path.startsWith(`${at}/`)),
      })
      const whole = {
        root: plan.root,
        cwd,
        cache,
        shell,
        env: request.env,
        allow,
        toolPaths: Tools.toolPaths(tools),
        bare,
      }
      const { argv, env, extraFds } = commandLine(request, { shell, env: viewEnvironment(whole), terminal })
      // Without Landlock, a command of this process's uid could write to covers and skeletons, so each command gets its own.
      const writable = !hasLandlock && process.getuid?.() === owner.uid
      const view = await composeView({
        plan,
        system,
        run,
        landlock: hasLandlock,
        skeletons: writable ? new SkeletonCache(run.path) : skeletons,
        covers: writable ? new Covers(run.path) : covers,
      })
      try {
        request.signal?.throwIfAborted()
        // The pipes are opened before any step that must start without delay. A terminal carries the command's streams itself.
        pipes ??= terminal === undefined ? Descriptors.usePipes() : undefined
        const wanted = terminal ? [] : ['stdout', 'errors', ...(request.stdin === undefined ? [] : ['stdin'])]
        const [stdoutPipe, errors, stdinPipe] = await Descriptors.takePipes(
          terminal ? undefined : pipes,
          wanted.length,
          owner,
        )
        const confined = Descriptors.withPipes([errors, stdoutPipe, stdinPipe], () => {
          request.signal?.throwIfAborted()
          const first = firstProcess({
            argv: Limits.limitedCommand(argv, limits, { ownProcesses: 2, cgroup }),
            env,
            cwd,
            etc: system.etc,
          })
          const loaderRule = { source: loader, access: ['read', 'execute'] } as const
          return confineArgv({
            argv: [...prootArguments(machine.proot, view, run.path), ...first.argv],
            env: tracerEnvironment(loader, run.path),
            seccomp: sandboxProgram({
              forProot: true,
              allowPtrace: true,
              interprocess: machine.pidNamespace,
              extendedAttributes: HostPaths.offersExtendedAttributes(plan),
              // Landlock grants descriptors for reading, which can change attributes in a read-only mount.
              attributeChanges: !plan.binds.some(({ kind, access }) => kind === 'mount' && access === 'read-only'),
            }),
            owner,
            supervise: !machine.pidNamespace,
            // The namespace's first process forgets its parent when it changes its uid.
            dieWithParent: machine.pidNamespace,
            killGrace,
            extraFds: new Map([...first.extraFds, ...extraFds]),
            landlock: hasLandlock ? { rules: [...view.rules, loaderRule, ...terminalRules(terminal)] } : undefined,
          })
        })
        const alone = {
          extraFds: errors ? new Map([...confined.extraFds, [errorDescriptor, errors]]) : confined.extraFds,
          argv: [...(machine.pidNamespace ? namespacePrefix() : []), ...confined.argv],
        }
        const joined = group && joining(group, alone)
        const own = { stdoutPipe, stdinPipe, maxOutputBytes: longestError, onStderr: undefined }
        const started = { ...confined, ...own, ...(joined ?? alone) }
        return { process: started, sendGo: joined?.sendGo, close: () => view.release(), release }
      } catch (error) {
        view.release()
        throw error
      }
    } catch (error) {
      await release()
      throw error
    }
  }

  return {
    // A bind also covers a missing name, and leaves nothing on the disk.
    facts: { limits, topNames: Tools.toolNames(tools), refuseMissing: () => undefined },
    hasTerminals: true,
    prepare,
    start: (prepared, run) => Promise.resolve(startProot(prepared as ProotCommand, run)),
    explainFailure,
    async close() {
      pipes?.close()
      pipes = undefined
      runs.close()
      removeTree(directory)
      await Promise.resolve()
    },
  }
}

/** For proot alone: the first process sets the command's environment. */
function tracerEnvironment(loader: string, directory: string): Record<string, string> {
  return {
    PROOT_DONT_POLLUTE_ROOTFS: '1',
    PROOT_LOADER: loader,
    // proot versions that know this variable write no file there: they have a loader and a complete skeleton.
    PROOT_TMP_DIR: directory,
  }
}

/** Rules for a terminal, which commands can open again as `/dev/stderr`. */
function terminalRules(terminal: TerminalDevice | undefined): Landlock.LandlockRule[] {
  return terminal === undefined ? [] : [{ source: { fd: terminal.descriptor }, access: ['read', 'write'] }]
}
