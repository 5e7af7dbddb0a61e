import { type CommandLimits, type CommandRequest, type LimitReport, narrowLimits } from '@ws/core'
import { checkAgainstOwn, resourceLimitReport, withoutCgroupFields } from '@ws/process'

import type { Confinement } from './guarantees.ts'
import type { ResolvedOptions } from './options.ts'

/**
 * The limits that hold in proot. The kernel counts processes anew in a user namespace; as root, the PID namespace comes
 * without one, and then all processes of the user count.
 */
export function heldLimits({ pidNamespace }: Confinement, cgroup: boolean): LimitReport[] {
  return resourceLimitReport({ cgroup, processes: pidNamespace && process.getuid?.() !== 0 ? 'tree' : 'uid' })
}

/**
 * The limits of one command.
 *
 * @throws WorkspaceError `EUNENFORCEABLE` for one that is wider than this process's own
 */
export function limitsOf(request: CommandRequest, options: ResolvedOptions): CommandLimits {
  const limits = narrowLimits(options.limits, request.limits)
  checkAgainstOwn(options.cgroup === undefined ? limits : withoutCgroupFields(limits))
  return limits
}
