import type { CommandLimits } from '@ws/core'
import { execError, type CommandRequest, type LimitReport } from '@ws/core/executor'
import { Limits } from '@ws/sandbox'
import { statSync } from 'node:fs'

import type { Layout } from './view/layout.ts'
import type { ResolvedOptions } from './options.ts'

/**
 * The limits that the sandbox enforces. Its user namespace counts processes separately, so the limit of processes is for its whole tree.
 * A setuid bubblewrap makes no user namespace.
 */
export function heldLimits(bwrap: string | undefined, cgroup: boolean): LimitReport[] {
  const setuid = bwrap !== undefined && ((statSync(bwrap, { throwIfNoEntry: false })?.mode ?? 0) & 0o4000) !== 0
  const note = 'of a workspace with `scratch: false`, whose `/tmp` is in memory'
  return Limits.resourceLimitReport({
    cgroup,
    processes: setuid ? 'uid' : 'tree',
    scratch: { heldBy: 'file-system', scope: 'tree', note },
  })
}

/** @throws WorkspaceError `EUNENFORCEABLE` for a limit that cannot be enforced */
export function limitsOf(request: CommandRequest, options: ResolvedOptions, layout: Layout): CommandLimits {
  const limits = Limits.narrowedLimits(options, request.limits)
  if (limits.scratchBytes === undefined || !layout.hasTemporary) return limits
  throw execError(
    'EUNENFORCEABLE',
    'the limit `scratchBytes` cannot be held: `/tmp` of this workspace is a directory on a disk, without a quota',
    { remedy: 'make the workspace with `scratch: false`, whose `/tmp` is in memory, or limit `fileBytes`' },
  )
}
