import type { Executor } from '@ws/core'
import { type BubblewrapExecutorOptions, createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createProotExecutor, type ProotExecutorOptions } from '@ws/executor-proot'
import { createSanitizeExecutor, type SanitizeExecutorOptions } from '@ws/executor-sanitize'
import { createVirtualExecutor } from '@ws/executor-virtual'

import { usageOf } from './usage.ts'

export const executorNames = ['bubblewrap', 'proot', 'sanitize', 'virtual'] as const

/**
 * Tried in this order where nobody chooses. Neither what has no view and refuses what it cannot prove nor an interpreter
 * without real programs is ever a silent substitute.
 */
export const defaultExecutorNames = ['bubblewrap', 'proot'] as const satisfies readonly ExecutorName[]

export type ExecutorName = (typeof executorNames)[number]

/** What a config file says of its executors. */
export interface ExecutorOptions {
  readonly bubblewrap?: BubblewrapExecutorOptions | undefined
  readonly proot?: ProotExecutorOptions | undefined
  readonly sanitize?: SanitizeExecutorOptions | undefined
}

const makers: Record<ExecutorName, (options: ExecutorOptions) => Executor> = {
  bubblewrap: ({ bubblewrap }) => createBubblewrapExecutor(bubblewrap),
  proot: ({ proot }) => createProotExecutor(proot),
  sanitize: ({ sanitize }) => createSanitizeExecutor(sanitize),
  virtual: () => createVirtualExecutor(),
}

/** Throws UsageError for options that mean nothing here: a tool that does not exist, say. */
export function createExecutor(name: ExecutorName, options: ExecutorOptions = {}): Executor {
  return usageOf(`--config: executorOptions.${name}`, () => makers[name](options))
}
