import type { Executor } from '@ws/core'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createProotExecutor } from '@ws/executor-proot'
import { createVirtualExecutor } from '@ws/executor-virtual'

export const executorNames = ['bubblewrap', 'proot', 'virtual'] as const

/** Tried in this order where nobody chooses. An interpreter without real programs is never a silent substitute. */
export const defaultExecutorNames = ['bubblewrap', 'proot'] as const satisfies readonly ExecutorName[]

export type ExecutorName = (typeof executorNames)[number]

const makers: Record<ExecutorName, () => Executor> = {
  bubblewrap: () => createBubblewrapExecutor(),
  proot: () => createProotExecutor(),
  virtual: () => createVirtualExecutor(),
}

export function createExecutor(name: ExecutorName): Executor {
  return makers[name]()
}
