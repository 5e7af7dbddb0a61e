import type { Stat } from '@ws/core'

import { release, statusOf } from '../confine/handle.ts'
import { openEntry } from '../confine/open.ts'
import { isReserved } from '../confine/reserved.ts'
import { statOf } from '../confine/status.ts'
import { type Task, targetOf } from '../confine/task.ts'
import { contractFailure } from '../errors.ts'
import { isImmediate } from '../host/calls.ts'
import { statusAtOnce } from './at-once.ts'

export async function statEntry(task: Task): Promise<Stat> {
  const atOnce = isImmediate(task.calls) ? statusAtOnce(task.tree, task.calls, task.path) : undefined
  if (atOnce !== undefined && !isReserved(atOnce, task.tree.hostPath(task.path))) return statOf(atOnce)
  const handle = await openEntry(task, targetOf(task, task.path))
  try {
    const status = await statusOf(task, handle)
    if (isReserved(status, handle.self)) throw contractFailure(task, 'ENOENT')
    return statOf(status)
  } finally {
    await release(task, handle)
  }
}
