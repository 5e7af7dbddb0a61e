import type { VirtualPath } from '@ws/core'
import type { Owner } from '@ws/core/adapter'
import type { ProbeReport } from '@ws/core/executor'

/** The workspace and the user that something is probed or attached for. */
export interface ConfinedTarget {
  readonly root: VirtualPath
  /** Never uid 0. */
  readonly owner: Owner
}

/** The outcome of a probe. */
export interface ConfinedProbe<Machine> {
  readonly report: ProbeReport
  /** The machine that commands run on; absent where it is not available. */
  readonly machine?: Machine | undefined
}
