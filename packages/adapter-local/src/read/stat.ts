import type { Stat } from '@ws/core'

import { release, statusOf } from '../confine/handle.ts'
import { openEntry } from '../confine/open.ts'
import { statOf } from '../confine/status.ts'
import { type Task, targetOf } from '../confine/task.ts'
import { isImmediate } from '../host/calls.ts'
import { statusAtOnce } from './at-once.ts'

export async function statEntry(task: Task): Promise<Stat> {
  const atOnce = isImmediate(task.calls) ? statusAtOnce(task.tree, task.calls, task.path) : undefined
  if (atOnce !== undefined) return statOf(atOnce)
  const handle = await openEntry(task, targetOf(task, task.path))
  try {
    return statOf(await statusOf(task, handle))
  } finally {
    await release(task, handle)
  }
}
