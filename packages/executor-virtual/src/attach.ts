import type { FileDoor } from '@ws/core'
import {
  execError,
  type AttachedExecutor,
  type BindPlan,
  type CommandRequest,
  type Guarantees,
  type StartedCommand,
} from '@ws/core/executor'
import { verdictOf } from '@ws/network/gate'

import { lacksOf } from './lacks.ts'
import type { ResolvedOptions } from './options.ts'
import { commandEnvironment } from './run/environment.ts'
import { startCommand, type StartOptions } from './run/command.ts'
import type { WorkerPool } from './run/pool.ts'
import { checkShell } from './run/shell.ts'

export interface AttachOptions {
  readonly files: FileDoor
  readonly guarantees: Guarantees
  readonly pool: WorkerPool
  readonly limits: ResolvedOptions['limits']
  readonly network: StartOptions['network']
}

export function attachVirtual({ files, guarantees, pool, limits, network }: AttachOptions): AttachedExecutor {
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
      const command = startCommand({ pool, files, request, plan, env, limits, network })
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
