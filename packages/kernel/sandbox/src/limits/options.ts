import { readFileSync } from 'node:fs'

import { type CommandLimits, WorkspaceError } from '@ws/core'
import { commandLimits, type LimitReport } from '@ws/core/executor'
import { withSpareDescriptor } from '../run/room.ts'

/** The names of the limits in `/proc/self/limits`. */
const kernelNames: Readonly<Record<Exclude<LimitReport['field'], 'scratchBytes'>, string>> = {
  cpuSeconds: 'Max cpu time',
  memoryBytes: 'Max address space',
  fileBytes: 'Max file size',
  processes: 'Max processes',
  openFiles: 'Max open files',
}

/** Refuses limits above this process's own limits, which commands inherit. @throws WorkspaceError `EUNENFORCEABLE` */
function checkAgainstOwn(limits: CommandLimits, operation = 'exec'): void {
  const fields = Object.keys(kernelNames) as (keyof typeof kernelNames)[]
  if (fields.every((field) => limits[field] === undefined)) return
  const own = withSpareDescriptor(() => readFileSync('/proc/self/limits', 'latin1'))
  for (const field of fields) {
    const wanted = limits[field]
    const hard = Number(new RegExp(`^${kernelNames[field]} +\\S+ +(\\d+)`, 'm').exec(own)?.[1] ?? Infinity)
    if (wanted === undefined || wanted <= hard) continue
    throw new WorkspaceError({
      code: 'EUNENFORCEABLE',
      operation,
      reason: `the limit \`${field}\` is wider than that of this process itself (${hard}), which commands inherit`,
      remedy: `give at most ${hard}, or start this process with a wider hard limit (\`ulimit -H\`)`,
    })
  }
}

export interface LimitOptions {
  /** The limits of every command. A command's own `limits` can only lower them. `probe().limits` reports the enforced limits. */
  readonly limits?: CommandLimits | undefined
  /**
   * Host path of a delegated cgroup v2 group without processes, for `memoryBytes` and `processes` of a command's tree.
   * An unusable group makes the executor unavailable. Default: none; `memoryBytes` and `processes` are then resource limits.
   */
  readonly cgroup?: string | undefined
}

export interface ResolvedLimits {
  readonly limits: CommandLimits
  readonly cgroup: string | undefined
}

/** Returns the limits of checked options. @throws WorkspaceError `EUNENFORCEABLE` for a limit that cannot be enforced */
export function resolveLimits({ limits = {}, cgroup }: LimitOptions, operation: string): ResolvedLimits {
  checkAgainstOwn(resourceLimits(limits, cgroup), operation)
  return { limits, cgroup }
}

/** Returns the limits of one command. @throws WorkspaceError `EUNENFORCEABLE` for a limit above this process's own limit */
export function narrowedLimits({ limits, cgroup }: ResolvedLimits, own: CommandLimits | undefined): CommandLimits {
  const narrowed = commandLimits.narrow(limits, own)
  checkAgainstOwn(resourceLimits(narrowed, cgroup))
  return narrowed
}

/** Returns the limits that no control group enforces. */
function resourceLimits(limits: CommandLimits, cgroup: unknown): CommandLimits {
  if (cgroup === undefined) return limits
  const { memoryBytes: _memory, processes: _processes, ...rest } = limits
  return rest
}

/** A program of util-linux that sets limits for itself, then runs the command in its place. Always present on Debian and derivatives. */
export const prlimit = '/usr/bin/prlimit'

export interface LimitedCommandOptions {
  /** Number of executor processes that the limit also counts. Default 0. */
  readonly ownProcesses?: number | undefined
  readonly cgroup?: unknown
}

/**
 * Returns a command with its resource limits, to run inside the sandbox. Tracers and supervisors are not limited. No core file is written.
 * Soft and hard limits are equal, except for processor time: SIGXCPU comes a second before SIGKILL. Ignores `scratchBytes`.
 */
export function limitedCommand(
  argv: readonly string[],
  limits: CommandLimits,
  { ownProcesses = 0, cgroup }: LimitedCommandOptions = {},
): string[] {
  const { cpuSeconds, memoryBytes, fileBytes, processes, openFiles } = resourceLimits(limits, cgroup)
  const options = [
    ...(cpuSeconds === undefined ? [] : [`--cpu=${cpuSeconds}:${cpuSeconds + 1}`]),
    ...(memoryBytes === undefined ? [] : [`--as=${memoryBytes}`]),
    ...(fileBytes === undefined ? [] : [`--fsize=${fileBytes}`]),
    ...(processes === undefined ? [] : [`--nproc=${processes + ownProcesses}`]),
    ...(openFiles === undefined ? [] : [`--nofile=${openFiles}`]),
  ]
  if (options.length === 0) return [...argv]
  return [prlimit, ...options, '--core=0', '--', ...argv]
}
