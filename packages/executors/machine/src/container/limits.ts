import type { CommandLimits } from '@ws/core'
import { execError, type LimitReport } from '@ws/core/executor'

import type { Placement } from './tree/layout.ts'

const ofTree = {
  heldBy: 'cgroup',
  scope: 'tree',
  note: 'a command with this limit has a container of its own',
} as const

export const heldLimits: readonly LimitReport[] = [
  { field: 'cpuSeconds', heldBy: 'rlimit', scope: 'process' },
  { field: 'fileBytes', heldBy: 'rlimit', scope: 'process' },
  { field: 'openFiles', heldBy: 'rlimit', scope: 'process' },
  { field: 'memoryBytes', ...ofTree },
  { field: 'processes', ...ofTree },
  {
    field: 'scratchBytes',
    heldBy: 'file-system',
    scope: 'tree',
    note: 'of a workspace with `scratch: false`, whose `/tmp` is in memory',
  },
]

/** The limits that the kernel counts for each process, as the attendant sets them: numbers of Linux, soft and hard. */
export function processLimits({ cpuSeconds, fileBytes, openFiles }: CommandLimits): string[] {
  const both = (resource: number, value: number | undefined, more = 0) =>
    value === undefined ? [] : [`${resource} ${value} ${value + more}`]
  return [...both(0, cpuSeconds, 1), ...both(1, fileBytes), ...both(7, openFiles), '4 0 0']
}

/** True for limits that a container holds for all of its processes. */
export function needsOwnContainer({ memoryBytes, processes }: CommandLimits): boolean {
  return memoryBytes !== undefined || processes !== undefined
}

/** @throws WorkspaceError `EUNENFORCEABLE` */
export function checkScratchLimit({ scratchBytes }: CommandLimits, placements: readonly Placement[]): void {
  if (scratchBytes === undefined || !placements.some(({ at }) => at === '/tmp')) return
  throw execError(
    'EUNENFORCEABLE',
    'the limit `scratchBytes` cannot be held: `/tmp` of this workspace is a directory on a disk, without a quota',
    { remedy: 'make the workspace with `scratch: false`, whose `/tmp` is in memory, or limit `fileBytes`' },
  )
}
