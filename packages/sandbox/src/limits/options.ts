import type { CommandLimits } from '@ws/core'
import { narrowLimits } from '@ws/core/executor'

import { checkAgainstOwn } from './hard.ts'

/** Options of executors that hold limits by what this package has. */
export interface LimitOptions {
  /**
   * The limits of every command; a command's own `limits` narrow them. `probe().limits` reports which are held, and
   * over what.
   */
  readonly limits?: CommandLimits | undefined
  /**
   * Host path of a cgroup v2 group that is delegated to this process and has no process in it itself. Each command then gets
   * a group below it, which holds `memoryBytes` and `processes` over its whole tree, and with which all of the tree ends.
   * Where it cannot be used, the executor is not available. Default: none; these two are resource limits then.
   */
  readonly cgroup?: string | undefined
}

export interface ResolvedLimits {
  readonly limits: CommandLimits
  readonly cgroup: string | undefined
}

/** Options that `limitOptionShapes` has checked. @throws WorkspaceError `EUNENFORCEABLE` for a limit that cannot be held */
export function resolveLimits({ limits = {}, cgroup }: LimitOptions, operation: string): ResolvedLimits {
  checkAgainstOwn(resourceLimits(limits, cgroup), operation)
  return { limits, cgroup }
}

/**
 * The limits of one command.
 *
 * @throws WorkspaceError `EUNENFORCEABLE` for a limit that is wider than this process's own
 */
export function narrowedLimits({ limits, cgroup }: ResolvedLimits, own: CommandLimits | undefined): CommandLimits {
  const narrowed = narrowLimits(limits, own)
  checkAgainstOwn(resourceLimits(narrowed, cgroup))
  return narrowed
}

/** The limits for `limitedCommand`: all but those that a control group holds, where there is one. */
export function resourceLimits(limits: CommandLimits, cgroup: unknown): CommandLimits {
  if (cgroup === undefined) return limits
  const { memoryBytes: _memory, processes: _processes, ...rest } = limits
  return rest
}
