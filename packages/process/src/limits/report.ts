import type { LimitField, LimitReport } from '@ws/core'
import { existsSync } from 'node:fs'

import { prlimit } from './command.ts'

export interface LimitReportOptions {
  /** Over what the kernel counts processes: `tree` where commands are in a user namespace of their own. */
  readonly processes: 'tree' | 'uid'
  /** How the size of `/tmp` is held; absent: it is not. */
  readonly scratch?: Omit<LimitReport, 'field'> | undefined
}

const perProcess = ['cpuSeconds', 'memoryBytes', 'fileBytes', 'openFiles'] as const satisfies readonly LimitField[]

/** What {@link limitedCommand} holds on this machine. */
export function resourceLimitReport({ processes, scratch }: LimitReportOptions): LimitReport[] {
  const missing = existsSync(prlimit) ? undefined : 'prlimit is not installed (`apt-get install util-linux`)'
  const report = (field: LimitField, scope: LimitReport['scope'], note?: string): LimitReport =>
    missing === undefined ? { field, heldBy: 'rlimit', scope, note } : { field, heldBy: 'none', note: missing }
  const shared = 'the processes of other commands of the same user count too'
  return [
    ...perProcess.map((field) =>
      report(field, 'process', field === 'memoryBytes' ? 'it is address space that counts' : undefined),
    ),
    report('processes', processes, processes === 'uid' ? shared : undefined),
    { field: 'scratchBytes', ...(scratch ?? { heldBy: 'none', note: '`/tmp` is a directory on a disk' }) },
  ]
}
