import type { Executor } from '@ws/core'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createProotExecutor } from '@ws/executor-proot'

/** In the order in which they are tried. */
export const executorNames = ['bubblewrap', 'proot'] as const

export type ExecutorName = (typeof executorNames)[number]

const makers: Record<ExecutorName, () => Executor> = {
  bubblewrap: () => createBubblewrapExecutor(),
  proot: () => createProotExecutor(),
}

export function createExecutor(name: ExecutorName): Executor {
  return makers[name]()
}
