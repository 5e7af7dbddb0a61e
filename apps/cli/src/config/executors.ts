import type { Executor } from '@ws/core/executor'
import type { BubblewrapExecutorOptions } from '@ws/executor-bubblewrap'
import type { ProotExecutorOptions } from '@ws/executor-proot'
import type { SanitizeExecutorOptions } from '@ws/executor-sanitize'

import { loadOptional } from '../optional/load.ts'
import type { OptionalPackages } from '../optional/packages.ts'
import { usageOf } from '../usage.ts'

export const executorNames = ['bubblewrap', 'proot', 'sandbox-runtime', 'sanitize', 'virtual'] as const

/** Default executors of each system, best first. `sanitize` (no view) and `virtual` (no real programs) are used only on request. */
const defaults: Partial<Record<NodeJS.Platform, readonly ExecutorName[]>> = {
  linux: ['bubblewrap', 'proot'],
  darwin: ['sandbox-runtime'],
}

/** On other systems, no real program can be confined yet. */
export const defaultExecutorNames = defaults[process.platform] ?? ['virtual']

/** Executors for mounts without a local directory. Host programs cannot see such mounts. */
export const executorNamesWithoutDirectory = ['virtual'] as const satisfies readonly ExecutorName[]

export type ExecutorName = (typeof executorNames)[number]

type SandboxRuntime = OptionalPackages['@ws/executor-sandbox-runtime']
type SandboxRuntimeOptions = Parameters<SandboxRuntime['createSandboxRuntimeExecutor']>[0]

export interface ExecutorOptions {
  readonly bubblewrap?: BubblewrapExecutorOptions | undefined
  readonly proot?: ProotExecutorOptions | undefined
  readonly 'sandbox-runtime'?: SandboxRuntimeOptions | undefined
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
  async 'sandbox-runtime'(options) {
    const { createSandboxRuntimeExecutor } = await loadOptional('@ws/executor-sandbox-runtime')
    return () => createSandboxRuntimeExecutor(options['sandbox-runtime'])
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
