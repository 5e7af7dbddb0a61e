import { escapeUnprintable, showName } from './text/printable.ts'

/**
 * Every code of a {@link WorkspaceError}. Codes of Node and POSIX keep their usual meaning. These codes are narrower or our own:
 *
 * - `EROFS`: the mount (or the synthetic root) is read-only.
 * - `EBUSY`: a mount point, a reserved name, or an entry that changed too often.
 * - `EACCES`: a policy rule refused; `rule` has its name. Without `rule`, the permissions of the disk refused.
 * - `EOUTSIDE`: the path climbs above the root.
 * - `ECONFLICT`: an `if…` condition did not hold.
 * - `EBACKEND`: a remote store refused, or cannot be reached.
 * - `ENOWORKSPACE`: the root of a mount is missing.
 * - `ENOEXECUTOR`: no available executor meets the requirement.
 * - `ENOEXEC`: the command could not be started.
 * - `ESECURITY`: a step of a plan would read outside the workspace, or write outside the output. No step was done.
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

/** The completed part of a multi-step operation that failed. Paths are as the caller passed them. */
export interface PartialProgress {
  /** Completed entries in order; at most the first 1,000. */
  readonly completed: readonly string[]
  readonly completedCount: number
  readonly failedAt: string
  /** One sentence about the current state: which entries exist where, and the next step. */
  readonly state: string
}

export interface WorkspaceErrorOptions {
  readonly code: ErrorCode
  /** The name of the operation for the caller: `read`, `move`, `exec`, … */
  readonly operation: string
  /** A virtual path (inside an adapter: a mount path). Never a host path, a bucket key or a secret. */
  readonly path?: string | undefined
  /** The fault, without the path: the message puts the path before this text. */
  readonly reason: string
  readonly rule?: string | undefined
  /** The caller's next step, as an imperative: "write below `/out`". */
  readonly remedy?: string | undefined
  readonly partial?: PartialProgress | undefined
  /** Set if the change may have happened. Pass this id to the adapter to find out. */
  readonly changeId?: string | undefined
  /** The error of the underlying layer, for operators: see {@link getNativeCause}. Never printed. */
  readonly native?: unknown
}

const nativeCauses = new WeakMap<object, unknown>()
const brand = Symbol.for('@ws/core/WorkspaceError')

/** The only error class of `@ws`. The message contains path, rule and remedy. There is no `cause`, since printing it shows host paths. */
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

  /** Returns the fields that are safe to show a model or to send over a network. */
  toJSON(): Record<string, unknown> {
    const { code, operation, path, rule, remedy, message, partial, changeId } = this
    return { name: this.name, code, operation, path, rule, remedy, message, partial, changeId }
  }
}

function formatMessage({ code, operation, path, reason, rule, remedy }: WorkspaceErrorOptions): string {
  const subject = path === undefined ? '' : `${quotePath(path)} `
  const ruleNote = rule === undefined ? '' : ` (rule ${quotePath(rule)})`
  const remedyNote = remedy === undefined ? '' : `; ${remedy}`
  // a reason may quote a pattern or a name: escapes keep the message from controlling a terminal
  return escapeUnprintable(`${code}: ${operation}: ${subject}${reason}${ruleNote}${remedyNote}`)
}

const longestQuoted = 300

/** Returns a path or name between backticks, safe for a terminal and a log. Cuts a long text in the middle. See {@link showName}. */
export function quotePath(path: string): string {
  const shown =
    path.length > longestQuoted ? `${path.slice(0, longestQuoted / 2)}…${path.slice(-longestQuoted / 2)}` : path
  // the cut may have split a surrogate pair
  return `\`${showName(shown)}\``
}

/** True for a {@link WorkspaceError}, also from another copy of this package. With `code`, true only for that code. */
export function isWorkspaceError(error: unknown, code?: ErrorCode): error is WorkspaceError {
  if (typeof error !== 'object' || error === null || !(brand in error)) return false
  return code === undefined || (error as unknown as WorkspaceError).code === code
}

/** Returns the error of the underlying layer, if it was kept. For operators only: the error may contain host paths. */
export function getNativeCause(error: unknown): unknown {
  return typeof error === 'object' && error !== null ? nativeCauses.get(error) : undefined
}

/** Copies an error with another path and operation, for callers of an upper layer. Keeps the native cause. */
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
