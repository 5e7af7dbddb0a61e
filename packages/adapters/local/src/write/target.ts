import type { Condition } from '@ws/core/adapter'

import type { Handle } from '../confine/handle.ts'
import { nameOf } from '../confine/open.ts'
import { isReserved } from '../confine/hidden.ts'
import { versionOf } from '../confine/status.ts'
import type { Target, Task } from '../confine/task.ts'
import { contractFailure } from '../errors.ts'
import type { HostName, Status } from '../host/calls.ts'
import { under } from '../host/name.ts'

export async function lookAt(task: Task, directory: Handle, name: HostName): Promise<Status | undefined> {
  const path = under(directory.self, name)
  const found = await task.calls.lookUp(path)
  return found !== undefined && isReserved(found, String(path)) ? undefined : found
}

export async function lookAtTarget(task: Task, directory: Handle, target: Target): Promise<Status | undefined> {
  return await lookAt(task, directory, nameOf(target))
}

export function checkCondition(target: Target, condition: Condition | undefined, found: Status | undefined): void {
  if (condition === undefined) return
  if (condition === 'absent') {
    if (found !== undefined) throw conflict(target)
    return
  }
  if (found === undefined || versionOf(found) !== condition) throw conflict(target)
}

export function conflict(target: Target): Error {
  return contractFailure(target, 'ECONFLICT')
}
