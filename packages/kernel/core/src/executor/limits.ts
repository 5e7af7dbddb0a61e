import { WorkspaceError } from '../errors.ts'
import { option } from '../options/shapes.ts'
import type { OptionShapes } from '../options/shapes.ts'

/** Limits of a command. All are whole numbers of at least 1; absent: none. */
export interface CommandLimits {
  /** Processor time in seconds. A process beyond it gets SIGXCPU, and SIGKILL a second later. */
  readonly cpuSeconds?: number | undefined
  /**
   * Memory in bytes. Where processes are limited and not the tree, it is address space: programs that reserve much and
   * use little (Node, Go, Java) need several GiB. Where the tree is limited (`cgroup`), it is memory in use, and a
   * process that takes more is killed.
   */
  readonly memoryBytes?: number | undefined
  /**
   * Largest file that can be written, in bytes. A process that writes more gets SIGXFSZ, or EFBIG where it ignores
   * that.
   */
  readonly fileBytes?: number | undefined
  /** Processes and threads at the same time; `fork` then fails with EAGAIN. */
  readonly processes?: number | undefined
  /** Open descriptors. */
  readonly openFiles?: number | undefined
  /** Bytes that `/tmp` and `/dev/shm` hold, each. */
  readonly scratchBytes?: number | undefined
}

export type LimitField = keyof CommandLimits

export const limitFields = [
  'cpuSeconds',
  'memoryBytes',
  'fileBytes',
  'processes',
  'openFiles',
  'scratchBytes',
] as const satisfies readonly LimitField[]

/** By what, and over what, an executor holds a limit on this machine. */
export interface LimitReport {
  readonly field: LimitField
  /** `file-system`: by the size of a file system in memory. `none`: a command that asks for it is refused. */
  readonly heldBy: 'cgroup' | 'rlimit' | 'file-system' | 'none'
  /**
   * `tree`: all that the command starts, together. `process`: each process for itself. `uid`: all processes of the user
   * that commands run as, those of other commands included. Absent where it is not held.
   */
  readonly scope?: 'tree' | 'process' | 'uid' | undefined
  /** Under which condition it is held, why it is not, or the remedy. */
  readonly note?: string | undefined
}

/** The options of {@link CommandLimits}. */
export const limitShapes: OptionShapes<CommandLimits> = {
  cpuSeconds: option.integer(1),
  memoryBytes: option.integer(1),
  fileBytes: option.integer(1),
  processes: option.integer(1),
  openFiles: option.integer(1),
  scratchBytes: option.integer(1),
}

/** The narrower one of each pair: a command's own limits never widen those of its executor. */
export function narrowLimits(first: CommandLimits = {}, second: CommandLimits = {}): CommandLimits {
  const narrowed: { -readonly [Field in LimitField]?: number } = {}
  for (const field of limitFields) {
    const values = [first[field], second[field]].filter((value) => value !== undefined)
    if (values.length > 0) narrowed[field] = Math.min(...values)
  }
  return narrowed
}

/**
 * Refuses limits that are not held: no limit is ignored silently.
 *
 * @throws WorkspaceError `EUNENFORCEABLE` that says why and what to do
 */
export function requireLimits(
  limits: CommandLimits,
  {
    executor,
    reports,
    operation,
  }: { executor: string; reports: readonly LimitReport[] | undefined; operation: string },
): void {
  for (const field of limitFields) {
    if (limits[field] === undefined) continue
    const report = reports?.find((candidate) => candidate.field === field)
    if (report !== undefined && report.heldBy !== 'none') continue
    const why = report?.note === undefined ? '' : `: ${report.note}`
    throw new WorkspaceError({
      code: 'EUNENFORCEABLE',
      operation,
      reason: `${executor} cannot hold the limit \`${field}\` here${why}`,
      remedy: 'leave it out, or use another executor: `ws doctor` shows which holds what',
    })
  }
}
