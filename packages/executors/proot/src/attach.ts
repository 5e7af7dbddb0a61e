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
import { prefix } from './runtime-directory.ts'
import { SkeletonCache } from './skeleton.ts'
import { type ProotCommand, startProot } from './start.ts'
import { createSystemPart } from './system.ts'

/** Checks that the loader can run. @throws WorkspaceError `ENOEXECUTOR` on a file system mounted `noexec` */
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

/** Number of the executor's processes in a command's control group: supervisor, proot, first process. */
const ownProcesses = 3

/** Maximum bytes of proot's own output that are kept. */
const longestError = 4096

/** @param cgroup the control group of the options, opened by the caller */
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
  const directory = Temporary.createRuntimeDirectory(prefix)
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
      Temporary.removeRuntimeDirectory(directory)
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
      // Without Landlock, a command with this process's uid could write to covers and skeletons, so each command needs its own.
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
        // Opens the pipes first: later steps must start without delay. A terminal carries the command's streams itself.
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
              // Refuses changes of attributes for a read-only mount: a descriptor that Landlock grants for reading would allow them.
              attributeChanges: !plan.binds.some(({ kind, access }) => kind === 'mount' && access === 'read-only'),
            }),
            owner,
            supervise: !machine.pidNamespace,
            // A change of the uid clears the parent-death signal of the namespace's first process, so the loader sets the signal.
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
    // A bind also covers a missing name, without an entry on the disk.
    facts: { limits, topNames: Tools.toolNames(tools), refuseMissing: () => undefined },
    hasTerminals: true,
    prepare,
    start: (prepared, run) => Promise.resolve(startProot(prepared as ProotCommand, run)),
    explainFailure,
    async close() {
      pipes?.close()
      pipes = undefined
      runs.close()
      Temporary.removeRuntimeDirectory(directory)
      await Promise.resolve()
    },
  }
}

/** Returns variables for proot only. The first process sets the command's environment. */
function tracerEnvironment(loader: string, directory: string): Record<string, string> {
  return {
    PROOT_DONT_POLLUTE_ROOTFS: '1',
    PROOT_LOADER: loader,
    // Only some versions of proot read this variable. They write no file there, because the loader and the skeleton already exist.
    PROOT_TMP_DIR: directory,
  }
}

/** Returns rules for a terminal, which commands can open again as `/dev/stderr`. */
function terminalRules(terminal: TerminalDevice | undefined): Landlock.LandlockRule[] {
  return terminal === undefined ? [] : [{ source: { fd: terminal.descriptor }, access: ['read', 'write'] }]
}
