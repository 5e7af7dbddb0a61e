import {
  type AttachedExecutor,
  type BindPlan,
  type CommandRequest,
  type Guarantees,
  type Owner,
  type RunningCommand,
  type VirtualPath,
  WorkspaceError,
} from '@ws/core'
import {
  checkToolAccess,
  checkToolPlaces,
  isSystemProgram,
  resolveShell,
  sandboxProgram,
  shellInvocation,
  type SystemEntry,
  systemTree,
  toolPaths,
  viewEnvironment,
} from '@ws/process'

import { layOut } from './layout.ts'
import { heldLimits, limitsOf } from './limits.ts'
import type { ResolvedOptions } from './options.ts'
import type { Programs } from './programs.ts'
import { startCommand } from './running.ts'
import { openSources } from './sources.ts'
import { openTools } from './tools.ts'
import { useWarden, type Warden } from './warden.ts'

export interface AttachOptions {
  readonly root: VirtualPath
  readonly owner: Owner
  readonly options: ResolvedOptions
  readonly programs: Programs
  readonly guarantees: Guarantees
}

export function createAttached({ root, owner, options, programs, guarantees }: AttachOptions): AttachedExecutor {
  const running = new Set<RunningCommand>()
  const starting = new Set<Promise<unknown>>()
  const systems = new Map<string, readonly SystemEntry[]>()
  const stop = new AbortController()
  const limits = heldLimits(programs.bwrap)
  checkToolAccess(options.tools, owner, 'attach')
  let warden: Warden | undefined

  function systemFor(shell: string): readonly SystemEntry[] {
    const known = systems.get(shell) ?? systemTree({ root, owner, shell, network: options.network === 'host' })
    systems.set(shell, known)
    return known
  }

  async function start(request: CommandRequest, plan: BindPlan): Promise<RunningCommand> {
    const layout = layOut(plan)
    const limits = limitsOf(request, options, layout)
    checkToolPlaces(options.tools, [plan.root, ...plan.aliases, ...plan.binds.map(({ at }) => at)], 'exec')
    const shell = resolveShell({ shell: request.shell, existsInView: isSystemProgram })
    const { argv, extraFds } = shellInvocation(shell, request.command, { login: request.login })
    const env = viewEnvironment({ root: plan.root, cwd: request.cwd, shell, env: request.env, allow: options.env, toolPaths: toolPaths(options.tools) })
    const nested = layout.mode === 'nested'
    if (nested && programs.proot === undefined) throw needsProot()
    const seccomp = sandboxProgram({ allowPtrace: nested, forProot: nested })
    const signal = request.signal === undefined ? stop.signal : AbortSignal.any([request.signal, stop.signal])
    warden ??= useWarden()
    return startCommand({
      request: { ...request, signal },
      owner,
      warden,
      async withCommand(use) {
        await using sources = await openSources(layout.placements)
        const { bwrap, proot } = programs
        await using opened = await openTools(options.tools)
        const { network } = options
        const scratchBytes = limits.scratchBytes ?? options.scratchBytes
        const system = systemFor(shell)
        const common = { layout, sources, system, argv, env, cwd: request.cwd, extraFds, seccomp, limits }
        return await use({ ...common, tools: opened.tools, network, scratchBytes, bwrap, proot })
      },
    })
  }

  return {
    guarantees,
    limits,
    async spawn(request, plan) {
      if (stop.signal.aborted) throw closed()
      const started = start(request, plan)
      starting.add(started)
      try {
        const command = await started
        running.add(command)
        const forget = () => running.delete(command)
        command.wait().then(forget, forget)
        return command
      } finally {
        starting.delete(started)
      }
    },
    async close() {
      stop.abort(closed())
      await Promise.allSettled(starting)
      await Promise.all([...running].map((command) => command[Symbol.asyncDispose]()))
      warden?.close()
      warden = undefined
    },
  }
}

function closed(): WorkspaceError {
  return new WorkspaceError({ code: 'ECLOSED', operation: 'exec', reason: 'the workspace has been closed' })
}

function needsProot(): WorkspaceError {
  return new WorkspaceError({
    code: 'ENOEXECUTOR',
    operation: 'exec',
    reason: 'a mount at `/` takes proot, which is not installed',
    remedy: '`apt-get install proot`, or mount at /workspace',
  })
}
