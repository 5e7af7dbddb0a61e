import type { LinkSignal, MountPath } from '@ws/core/adapter'

import type { Where } from '../errors.ts'
import type { Calls } from '../host/calls.ts'
import { smallBytes } from '../host/constants.ts'
import type { Tree } from './tree.ts'

export interface Task extends Where {
  readonly tree: Tree
  readonly calls: Calls
  readonly pooled: Calls
  readonly signal: AbortSignal | undefined
  /** Waits briefly for a file on which another process has a lease. Default true. */
  readonly isPatient?: boolean | undefined
}

export interface Target extends Where {
  readonly argument: LinkSignal['argument']
}

export function targetOf({ operation }: Where, path: MountPath, argument: LinkSignal['argument'] = 'path'): Target {
  return { operation, path, argument }
}

export function callsFor(task: Task, bytes: number | bigint): Calls {
  return bytes <= smallBytes ? task.calls : task.pooled
}

export function taskAt(task: Task, path: MountPath, { isPatient }: Pick<Task, 'isPatient'>): Task {
  const { tree, operation, signal, pooled } = task
  return {
    tree,
    operation,
    path,
    signal,
    pooled,
    isPatient,
    get calls() {
      return task.calls
    },
  }
}
