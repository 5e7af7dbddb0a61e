import type { LimitReport } from '@ws/core/executor'
import { Limits } from '@ws/sandbox'

import type { Confinement } from './guarantees.ts'

/** A user namespace counts processes separately. Root makes no user namespace, so the kernel counts all processes of the user. */
export function heldLimits({ pidNamespace }: Confinement, cgroup: boolean): LimitReport[] {
  return Limits.resourceLimitReport({ cgroup, processes: pidNamespace && process.getuid?.() !== 0 ? 'tree' : 'uid' })
}
