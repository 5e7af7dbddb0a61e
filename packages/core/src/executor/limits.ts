import { WorkspaceError } from '../errors.ts'

/** Limits of a command. All are whole numbers of at least 1; absent: none. */
export interface CommandLimits {
  /** Processor time in seconds. What goes on gets SIGXCPU, and SIGKILL a second later. */
  readonly cpuSeconds?: number | undefined
  /**
   * Memory in bytes. Where processes are limited and not the tree, it is address space: programs that reserve much and use
   * little (Node, Go, Java) need several GiB. Of the tree (`cgroup`), it is memory in use, and what takes more is killed.
   */
  readonly memoryBytes?: number | undefined
  /** Largest file that can be written, in bytes. What writes more gets SIGXFSZ, or EFBIG where it ignores that. */
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
   * `tree`: all that the command starts, together. `process`: each process for itself. `uid`: all processes of the user whom
   * commands run as, those of other commands included. Absent where it is not held.
   */
  readonly scope?: 'tree' | 'process' | 'uid' | undefined
  /** Under which condition it is held, why it is not, or what to do about it. */
  readonly note?: string | undefined
}

/**
 * Checks limits that come from outside.
 *
 * @throws WorkspaceError `EINVAL` that names the limit
 */
export function checkLimits(limits: unknown, operation: string): CommandLimits {
  const fail = (reason: string): never => {
    throw new WorkspaceError({
      code: 'EINVAL',
      operation,
      reason,
      remedy: `give whole numbers of at least 1, for any of ${limitFields.join(', ')}`,
    })
  }
  if (limits === undefined) return {}
  if (typeof limits !== 'object' || limits === null || Array.isArray(limits)) return fail('`limits` must be an object')
  for (const [name, value] of Object.entries(limits)) {
    if (!limitFields.some((field) => field === name)) fail('`limits` holds a name that is none')
    if (value !== undefined && (!Number.isSafeInteger(value) || value < 1))
      fail(`\`limits.${name}\` must be a whole number of at least 1`)
  }
  return limits
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
 * Refuses limits that are not held: none is ever passed over in silence.
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
