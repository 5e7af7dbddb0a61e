import { dirname } from 'node:path'

import type { HostDirectory, Owner } from '@ws/core/adapter'
import type { HostPath } from '@ws/core/executor'

import { release, statusOf } from '../confine/handle.ts'
import { openDirectory } from '../confine/open.ts'
import { type Task, targetOf } from '../confine/task.ts'
import { type Status, identityOf } from '../host/calls.ts'
import { ownerProblem } from './owner.ts'

export async function describeHostDirectory(task: Task, owner: Owner | undefined): Promise<HostDirectory> {
  const handle = await openDirectory(task, targetOf(task, task.path))
  try {
    const path = task.tree.hostPath(task.path)
    const status = await statusOf(task, handle)
    const above: Status[] = []
    for (let at = path; at !== '/'; ) {
      at = dirname(at)
      above.push(await task.calls.lstat(at))
    }
    const problem = ownerProblem(owner, status, above)
    return {
      path: path as HostPath,
      identity: identityOf(status),
      ancestors: above.map(identityOf),
      ...(problem === undefined ? { owner } : { ownerProblem: problem }),
    }
  } finally {
    await release(task, handle)
  }
}
