import { howToInstall } from '../run/system.ts'
import type { LimitReport } from '@ws/core/executor'
import { existsSync } from 'node:fs'

import { prlimit } from './options.ts'

type LimitField = LimitReport['field']

export interface LimitReportOptions {
  /** The processes that the kernel counts together: `tree` if the command has its own user namespace. */
  readonly processes: 'tree' | 'uid'
  /** How the size of `/tmp` is limited. Absent: no limit. */
  readonly scratch?: Omit<LimitReport, 'field'> | undefined
  /** True if each command gets a control group ({@link DelegatedCgroup}). Default false. */
  readonly cgroup?: boolean | undefined
}

const howToCount =
  '; with the option `cgroup` and a group that systemd delegates (`Delegate=memory pids`), the memory of the whole tree counts'
const whatCounts = 'memory in use counts, its files in memory included; a process that exceeds it is killed'

const perProcess = ['cpuSeconds', 'memoryBytes', 'fileBytes', 'openFiles'] as const satisfies readonly LimitField[]

/** Reports the limits of {@link limitedCommand} and of a control group on this machine. */
export function resourceLimitReport({ processes, scratch, cgroup = false }: LimitReportOptions): LimitReport[] {
  const missing = existsSync(prlimit) ? undefined : `prlimit is not installed (\`${howToInstall('util-linux')}\`)`
  const report = (field: LimitField, scope: LimitReport['scope'], note?: string): LimitReport =>
    missing === undefined ? { field, heldBy: 'rlimit', scope, note } : { field, heldBy: 'none', note: missing }
  const shared = 'the processes of other commands of the same user count too'
  const addressSpace = `it is address space that counts${howToCount}`
  return [
    ...perProcess.map((field): LimitReport => {
      if (field !== 'memoryBytes') return report(field, 'process')
      return cgroup
        ? { field, heldBy: 'cgroup', scope: 'tree', note: whatCounts }
        : report(field, 'process', addressSpace)
    }),
    cgroup
      ? { field: 'processes', heldBy: 'cgroup', scope: 'tree' }
      : report('processes', processes, processes === 'uid' ? shared : undefined),
    { field: 'scratchBytes', ...(scratch ?? { heldBy: 'none', note: '`/tmp` is a directory on a disk' }) },
  ]
}
