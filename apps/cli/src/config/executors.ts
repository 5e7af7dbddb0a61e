import type { Executor } from '@ws/core/executor'
import type { BubblewrapExecutorOptions } from '@ws/executor-bubblewrap'
import type { ProotExecutorOptions } from '@ws/executor-proot'
import type { SanitizeExecutorOptions } from '@ws/executor-sanitize'

import { loadOptional } from '../optional/load.ts'
import { usageOf } from '../usage.ts'

export const executorNames = ['bubblewrap', 'proot', 'sanitize', 'virtual'] as const

/** Tried in this order. `sanitize` has no view and `virtual` no real programs, so neither is a silent substitute. */
export const defaultExecutorNames = ['bubblewrap', 'proot'] as const satisfies readonly ExecutorName[]

/** The same where a mount has no directory on this machine: no program can see it, so there is nothing to fall back from. */
export const executorNamesWithoutDirectory = ['virtual'] as const satisfies readonly ExecutorName[]

export type ExecutorName = (typeof executorNames)[number]

export interface ExecutorOptions {
  readonly bubblewrap?: BubblewrapExecutorOptions | undefined
  readonly proot?: ProotExecutorOptions | undefined
  readonly sanitize?: SanitizeExecutorOptions | undefined
}

/** Each is loaded when it is asked for: that takes longer than what most commands do. */
const makers: Record<ExecutorName, (options: ExecutorOptions) => Promise<() => Executor>> = {
  async bubblewrap({ bubblewrap }) {
    const { createBubblewrapExecutor } = await import('@ws/executor-bubblewrap')
    return () => createBubblewrapExecutor(bubblewrap)
  },
  async proot({ proot }) {
    const { createProotExecutor } = await import('@ws/executor-proot')
    return () => createProotExecutor(proot)
  },
  async sanitize({ sanitize }) {
    const { createSanitizeExecutor } = await import('@ws/executor-sanitize')
    return () => createSanitizeExecutor(sanitize)
  },
  async virtual() {
    const { createVirtualExecutor } = await loadOptional('@ws/executor-virtual')
    return () => createVirtualExecutor()
  },
}

/** Rejects with a MissingPackagesError, or with a UsageError for options that mean nothing here: a tool that does not exist, say. */
export async function createExecutor(name: ExecutorName, options: ExecutorOptions = {}): Promise<Executor> {
  const make = await makers[name](options)
  return usageOf(`--config: executorOptions.${name}`, make)
}
