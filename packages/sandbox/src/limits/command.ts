import type { CommandLimits } from '@ws/core'

/** A program of util-linux, which Debian and its kin always have. It sets limits on itself and becomes the command. */
export const prlimit = '/usr/bin/prlimit'

export interface LimitedCommandOptions {
  /** Processes of the executor's own that count with those of the command. Default 0. */
  readonly ownProcesses?: number | undefined
}

/**
 * The command, started by a program that sets its resource limits, to be run inside the view. Processes that confine
 * the command (a tracer, a supervisor) are not limited. Soft and hard limits are the same, so that the command cannot
 * widen them. Processor time is the exception: SIGXCPU comes a second before SIGKILL. No core file is left.
 *
 * `scratchBytes` is not a resource limit and is left alone.
 *
 * @param limits checked by `checkLimits`
 * @returns `argv` itself when there is nothing to limit
 */
export function limitedCommand(
  argv: readonly string[],
  limits: CommandLimits,
  { ownProcesses = 0 }: LimitedCommandOptions = {},
): string[] {
  const { cpuSeconds, memoryBytes, fileBytes, processes, openFiles } = limits
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
