import type { Executor } from '@ws/core/executor'
import type { BubblewrapExecutorOptions } from '@ws/executor-bubblewrap'
import type { ProotExecutorOptions } from '@ws/executor-proot'
import type { SanitizeExecutorOptions } from '@ws/executor-sanitize'

import { loadOptional } from '../optional/load.ts'
import { usageOf } from '../usage.ts'

export const executorNames = ['bubblewrap', 'proot', 'sanitize', 'virtual'] as const

/** Default executors, in order. `sanitize` (no view) and `virtual` (no real programs) are used only on request. */
export const defaultExecutorNames = ['bubblewrap', 'proot'] as const satisfies readonly ExecutorName[]

/** Executors for mounts without a local directory. Host programs cannot see such mounts. */
export const executorNamesWithoutDirectory = ['virtual'] as const satisfies readonly ExecutorName[]

export type ExecutorName = (typeof executorNames)[number]

export interface ExecutorOptions {
  readonly bubblewrap?: BubblewrapExecutorOptions | undefined
  readonly proot?: ProotExecutorOptions | undefined
  readonly sanitize?: SanitizeExecutorOptions | undefined
}

/** Functions that load a package on demand: loading takes longer than most commands. */
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

/** Makes an executor. Rejects with a MissingPackagesError, or a UsageError for meaningless options such as a missing tool. */
export async function createExecutor(name: ExecutorName, options: ExecutorOptions = {}): Promise<Executor> {
  const make = await makers[name](options)
  return usageOf(`--config: executorOptions.${name}`, make)
}
