import type { Thread, Threads } from '@ws/threads'

import type { CommandContext } from '../../command-context.ts'
import { createExecutor } from '../../config/executors.ts'
import { neededBy } from '../../config/needed.ts'
import { UsageError } from '../../errors.ts'
import { checkInstalled, loadOptional } from '../../optional/load.ts'
import { openStorage } from '../../storage/open.ts'
import { copiesOfThreads, withoutCopy } from '../../storage/replica.ts'
import { complainTo } from '../../terminal/wrap.ts'

export interface ThreadFlags {
  readonly user: string
  readonly ticket?: string
}

export interface OpenThreadsOptions {
  /** True to run commands. Default false. */
  readonly executors?: boolean
  /** True to make missing parts. Default false. */
  readonly provision?: boolean
}

export async function openThreads(
  { settings, output }: CommandContext,
  { executors = false, provision = false }: OpenThreadsOptions = {},
): Promise<Threads> {
  const [first, ...others] = settings.mounts
  if (first === undefined || others.length > 0) {
    throw new UsageError('threads need one storage: give --root DIR, --s3 or --rclone BUCKET/PREFIX')
  }
  checkInstalled(['@ws/threads', ...neededBy({ mounts: [first], executors: executors ? settings.executors : [] })])
  const { createThreads } = await loadOptional('@ws/threads')
  const chosen = executors ? settings.executors.map((name) => createExecutor(name, settings.executorOptions)) : []
  return createThreads({
    at: first.at,
    store: () => openStorage(withoutCopy(first.storage), { owner: settings.owner }),
    replica: copiesOfThreads(first.storage, settings.owner),
    executors: await Promise.all(chosen),
    require: executors ? settings.require : undefined,
    rules: settings.rules,
    commands: settings.commands,
    provision,
    idleTimeout: 0,
    onProvision: ({ part, state, reason }) => {
      if (!output.json && state !== 'started') complainTo(process.stderr, `${part} ${reason ?? `was ${state}`}`)
    },
  })
}

export async function inThread<Result>(
  context: CommandContext,
  threadId: string,
  { user, ticket }: ThreadFlags,
  { step, ...options }: OpenThreadsOptions & { readonly step: (thread: Thread) => Promise<Result> },
): Promise<Result> {
  await using threads = await openThreads(context, options)
  await using thread = await threads.open({ threadId, userId: user, ticketId: ticket, signal: context.signal })
  return await step(thread)
}
