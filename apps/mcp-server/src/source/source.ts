import { WorkspaceError } from '@ws/core'
import { concurrency } from '@ws/core/adapter'
import { unmetFields } from '@ws/core/executor'
import { createTools, type Toolset } from '@ws/tools'

import { limitsOf } from '../messages/limits.ts'
import type { MessageLimits, OpenedWorkspace, Served, SourceOptions } from '../types.ts'
import { Approvals } from './approvals.ts'
import { Watch } from './watch.ts'

/** A workspace with one toolset for all connections, so that calls for the same path wait for each other. */
export interface Source extends Served {
  readonly opened: OpenedWorkspace
  readonly options: SourceOptions
  readonly toolset: Toolset
  /** Absent where changes count at once. */
  readonly approvals?: Approvals | undefined
  readonly watch: Watch
  /** Limits simultaneous tool calls: a cancelled call may still end processes when the next call arrives. */
  readonly turns: concurrency.Semaphore
  readonly reads: concurrency.Semaphore
}

const decideWithin = 600_000

/** @throws WorkspaceError `ENOEXECUTOR` if commands are requested and no executor meets the requirement */
export function createSource(opened: OpenedWorkspace, options: SourceOptions & MessageLimits): Source {
  const { workspace } = opened
  if (options.commands !== undefined) checkExecutor(opened, options.commands)
  const approvals = options.approve === true ? new Approvals() : undefined
  const toolset = createTools(workspace, {
    ...(approvals && { decideWithin }),
    ...options.tools,
    ...(approvals && { approve: approvals.approve }),
    commands: options.commands !== undefined,
  })
  const watch = new Watch(workspace)
  const close = async (): Promise<void> => {
    watch[Symbol.dispose]()
    await (approvals?.close(toolset) ?? toolset.close())
  }
  const turns = new concurrency.Semaphore(limitsOf(options).maxCalls)
  const reads = new concurrency.Semaphore(1)
  return { opened, options, toolset, approvals, watch, turns, reads, close, [Symbol.asyncDispose]: close }
}

function checkExecutor({ workspace }: OpenedWorkspace, commands: NonNullable<SourceOptions['commands']>): void {
  const { executor } = workspace
  const fields = executor === undefined ? [] : unmetFields(executor.guarantees, commands)
  if (executor !== undefined && fields.length === 0) return
  const reason =
    executor === undefined
      ? 'commands are to be offered, and the workspace has no executor'
      : `the executor ${executor.name} falls short in ${fields.join(', ')}`
  throw new WorkspaceError({
    code: 'ENOEXECUTOR',
    operation: 'serve',
    reason,
    remedy: 'give the workspace an executor that meets the requirement, or offer no commands',
  })
}
