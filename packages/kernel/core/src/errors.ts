import { escapeUnprintable, showName } from './text/printable.ts'

/**
 * Every code of a {@link WorkspaceError}. Codes of Node and POSIX keep their usual meaning; some are narrower or ours:
 *
 * - `EROFS`: the mount (or the synthetic root) is read-only.
 * - `EBUSY`: a mount point or reserved name, or a place that changed too often.
 * - `EACCES`: a policy rule refused, named by `rule`; without `rule`, the permissions of the disk.
 * - `EOUTSIDE`: the path climbs above the root.
 * - `ECONFLICT`: an `if…` condition did not hold.
 * - `EBACKEND`: a remote store refused, or cannot be reached.
 * - `ENOWORKSPACE`: the root of a mount is missing.
 * - `ENOEXECUTOR`: no available executor meets the requirement.
 * - `ENOEXEC`: the command could not be started.
 * - `ESECURITY`: a plan's step would read outside the workspace, or write outside the output; nothing was done.
 * - `EUNENFORCEABLE`: the executor cannot enforce a rule on commands.
 */
export const errorCodes = [
  'ENOENT',
  'EEXIST',
  'ENOTDIR',
  'EISDIR',
  'ENOTEMPTY',
  'EINVAL',
  'ENAMETOOLONG',
  'ELOOP',
  'EROFS',
  'EBUSY',
  'EACCES',
  'EOUTSIDE',
  'ECONFLICT',
  'ENOSPC',
  'EDQUOT',
  'EFBIG',
  'ENOTSUP',
  'EIO',
  'EBACKEND',
  'ETIMEDOUT',
  'ECLOSED',
  'ENOWORKSPACE',
  'ENOEXECUTOR',
  'ENOEXEC',
  'ESECURITY',
  'EUNENFORCEABLE',
] as const

export type ErrorCode = (typeof errorCodes)[number]

/** The finished part of a multi-step operation that failed. Its paths are caller's paths. */
export interface PartialProgress {
  /** Entries finished, in order; at most the first 1,000. */
  readonly completed: readonly string[]
  readonly completedCount: number
  readonly failedAt: string
  /** One sentence on the remaining state: which entries exist where, and the next step. */
  readonly state: string
}

export interface WorkspaceErrorOptions {
  readonly code: ErrorCode
  /** The operation as the caller knows it: `read`, `move`, `exec`, … */
  readonly operation: string
  /** A virtual path (inside an adapter: the path inside the mount). Never a host path, a bucket key or a secret. */
  readonly path?: string | undefined
  /** The fault, without the path: the message puts the path before it. */
  readonly reason: string
  readonly rule?: string | undefined
  /** The caller's next step, as an imperative: "write below `/out`". */
  readonly remedy?: string | undefined
  readonly partial?: PartialProgress | undefined
  /** Set for a change that may have happened. Pass it to the adapter to find out. */
  readonly changeId?: string | undefined
  /** The error of the layer below, for operators: see {@link getNativeCause}. Never printed. */
  readonly native?: unknown
}

const nativeCauses = new WeakMap<object, unknown>()
const brand = Symbol.for('@ws/core/WorkspaceError')

/** The one error class of `@ws`. Its message names path, rule and remedy. It has no `cause`: printing one shows host paths. */
export class WorkspaceError extends Error {
  readonly code: ErrorCode
  readonly operation: string
  readonly path: string | undefined
  readonly rule: string | undefined
  readonly remedy: string | undefined
  readonly reason: string
  readonly partial: PartialProgress | undefined
  readonly changeId: string | undefined

  constructor(options: WorkspaceErrorOptions) {
    super(formatMessage(options))
    this.name = 'WorkspaceError'
    this.code = options.code
    this.operation = options.operation
    this.path = options.path
    this.rule = options.rule
    this.remedy = options.remedy
    this.reason = options.reason
    this.partial = options.partial
    this.changeId = options.changeId
    Object.defineProperty(this, brand, { value: true })
    if (options.native !== undefined) nativeCauses.set(this, options.native)
  }

  /** The fields that are safe to show a model or to send over a wire. */
  toJSON(): Record<string, unknown> {
    const { code, operation, path, rule, remedy, message, partial, changeId } = this
    return { name: this.name, code, operation, path, rule, remedy, message, partial, changeId }
  }
}

function formatMessage({ code, operation, path, reason, rule, remedy }: WorkspaceErrorOptions): string {
  const subject = path === undefined ? '' : `${quotePath(path)} `
  const ruleNote = rule === undefined ? '' : ` (rule ${quotePath(rule)})`
  const remedyNote = remedy === undefined ? '' : `; ${remedy}`
  // a reason may quote a pattern or a name, and no part of a message may act on a terminal
  return escapeUnprintable(`${code}: ${operation}: ${subject}${reason}${ruleNote}${remedyNote}`)
}

const longestQuoted = 300

/** A path or name between backticks, safe for a terminal and a log; cut in the middle if too long. See {@link showName}. */
export function quotePath(path: string): string {
  const shown =
    path.length > longestQuoted ? `${path.slice(0, longestQuoted / 2)}…${path.slice(-longestQuoted / 2)}` : path
  // cutting may have split a surrogate pair
  return `\`${showName(shown)}\``
}

/** True for a {@link WorkspaceError}, also for one made by another copy of this package; with `code`, only for that code. */
export function isWorkspaceError(error: unknown, code?: ErrorCode): error is WorkspaceError {
  if (typeof error !== 'object' || error === null || !(brand in error)) return false
  return code === undefined || (error as unknown as WorkspaceError).code === code
}

/** The error of the layer below, if one was kept. For operators only: it may name host paths. */
export function getNativeCause(error: unknown): unknown {
  return typeof error === 'object' && error !== null ? nativeCauses.get(error) : undefined
}

/** The error one layer up, with another path and operation. Keeps the native cause. */
export function rewriteError(
  error: WorkspaceError,
  changes: Partial<Omit<WorkspaceErrorOptions, 'native'>>,
): WorkspaceError {
  const { code, operation, path, reason, rule, remedy, partial, changeId } = error
  return new WorkspaceError({
    code,
    operation,
    path,
    reason,
    rule,
    remedy,
    partial,
    changeId,
    ...changes,
    native: getNativeCause(error),
  })
}
