import type { LimitReport } from '@ws/core/executor'
import { Limits } from '@ws/sandbox'

import type { Confinement } from './guarantees.ts'

/**
 * The limits that hold in proot. The kernel counts processes anew in a user namespace; as root, the PID namespace comes
 * without one, and then all processes of the user count.
 */
export function heldLimits({ pidNamespace }: Confinement, cgroup: boolean): LimitReport[] {
  return Limits.resourceLimitReport({ cgroup, processes: pidNamespace && process.getuid?.() !== 0 ? 'tree' : 'uid' })
}
