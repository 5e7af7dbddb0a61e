import type { FileDoor, VirtualPath } from '@ws/core'
import {
  execError,
  type AttachedExecutor,
  type BindPlan,
  type CommandRequest,
  type Guarantees,
  type StartedCommand,
  type WorkspaceView,
} from '@ws/core/executor'
import { verdictOf } from '@ws/network/gate'

import { lacksOf } from './lacks.ts'
import type { ResolvedOptions } from './options.ts'
import { startCommand, type StartOptions } from './run/command.ts'
import type { WorkerPool } from './run/pool.ts'

const offered = /^(?:(?:\/usr)?\/bin\/)?(bash|sh)$/
const known = /(?:^|\/)(?:zsh|dash|ksh|mksh|ash|fish|csh|tcsh)$/

/**
 * The path of the shell that a command takes for its own. There is one interpreter, which is bash's and sh's.
 *
 * @throws WorkspaceError `ENOEXEC` for another shell, `EINVAL` for a value that is not a shell.
 */
function checkShell(shell = 'bash'): string {
  const [, name] = offered.exec(shell) ?? []
  if (name !== undefined) return `/bin/${name}`
  const remedy = 'leave `shell` out, or give bash or sh'
  if (known.test(shell))
    throw execError('ENOEXEC', 'the interpreter understands bash and sh, and no other shell', { remedy })
  throw execError('EINVAL', 'this is not a shell that the interpreter knows', { remedy })
}

export interface AttachOptions extends Pick<WorkspaceView, 'topEntries'> {
  readonly files: FileDoor
  readonly guarantees: Guarantees
  readonly pool: WorkerPool
  readonly limits: ResolvedOptions['limits']
  readonly network: StartOptions['network']
}

export function attachVirtual({
  files,
  topEntries,
  guarantees,
  pool,
  limits,
  network,
}: AttachOptions): AttachedExecutor {
  const running = new Set<StartedCommand>()
  let closed = false
  return {
    guarantees,
    lacks: lacksOf(network !== undefined),
    ...(network && { explainConnection: verdictOf(network.network.list) }),
    async spawn(request: CommandRequest, plan: BindPlan): Promise<StartedCommand> {
      if (closed) throw execError('ECLOSED', 'the executor is closed')
      request.signal?.throwIfAborted()
      const shell = checkShell(request.shell)
      const env = commandEnvironment({ root: plan.root, shell, request })
      const command = startCommand({ pool, files, topEntries, request, plan, env, limits, network })
      running.add(command)
      const forget = () => running.delete(command)
      command.wait().then(forget, forget)
      return command
    },
    async close(): Promise<void> {
      if (closed) return
      closed = true
      await Promise.all([...running].map((command) => command[Symbol.asyncDispose]()))
    },
  }
}

interface EnvironmentOptions {
  readonly root: VirtualPath
  readonly shell: string
  readonly request: CommandRequest
}

/** The whole environment of a command: nothing of this process's own is in it [RP16]. */
function commandEnvironment({ root, shell, request }: EnvironmentOptions): Record<string, string> {
  return {
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    HOME: root,
    USER: 'user',
    LOGNAME: 'user',
    SHELL: shell,
    // Where the interpreter's own commands are.
    PATH: '/usr/bin:/bin',
    ...request.env,
    PWD: request.cwd,
  }
}
