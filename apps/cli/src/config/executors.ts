import type { Executor } from '@ws/core/executor'
import type { BubblewrapExecutorOptions } from '@ws/executor-bubblewrap'
import type { ProotExecutorOptions } from '@ws/executor-proot'
import type { SanitizeExecutorOptions } from '@ws/executor-sanitize'

import { loadOptional } from '../optional/load.ts'
import type { ContainerOptions, SandboxRuntimeOptions } from '../optional/packages.ts'
import { usageOf } from '../usage.ts'

export const executorNames = ['bubblewrap', 'container', 'proot', 'sandbox-runtime', 'sanitize', 'virtual'] as const

interface SystemChoice {
  /**
   * Default executors, best first. Used only on request: `sanitize` (no view), `virtual` (no real programs) and `container`, whose
   * programs are those of an image.
   */
  readonly executors: readonly ExecutorName[]
  /** The best choice and the reason, for `ws doctor`. */
  readonly best: string
}

const choices: Partial<Record<NodeJS.Platform, SystemChoice>> = {
  linux: {
    executors: ['bubblewrap', 'proot'],
    best: 'On Linux, bubblewrap is the best choice: the kernel holds every boundary. `container` holds as much, with the programs of an image.',
  },
  darwin: {
    executors: ['sandbox-runtime'],
    best: 'On macOS, sandbox-runtime is the best choice: it runs the programs of this Mac, under seatbelt. Linux in a container holds more.',
  },
}

/** The choice on this system. On other systems, no real program can be confined yet. */
export const systemChoice: SystemChoice = choices[process.platform] ?? {
  executors: ['virtual'],
  best: 'On this system, virtual is the best choice: no executor of real programs runs here. Linux (WSL 2, a container) holds more.',
}

export const defaultExecutorNames = systemChoice.executors

/** Executors for mounts without a local directory. Host programs cannot see such mounts. */
export const executorNamesWithoutDirectory = ['virtual'] as const satisfies readonly ExecutorName[]

export type ExecutorName = (typeof executorNames)[number]

export interface ExecutorOptions {
  readonly bubblewrap?: BubblewrapExecutorOptions | undefined
  readonly container?: ContainerOptions | undefined
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
  async container({ container }) {
    const { createContainerExecutor } = await loadOptional('@ws/executor-machine/container')
    return () => createContainerExecutor(container)
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
