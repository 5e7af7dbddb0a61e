import type { Change, DiffOptions, RestoreResult } from './checkpoints.ts'
import type { ConnectionReport } from './executor.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import type { ExecOptions } from './workspace.ts'

/** For a command also the options of `exec`, except `acknowledge`. */
export interface TryOptions extends ExecOptions {
  /** States that nothing else changes the files meanwhile. Required unless all writable mounts end with this process. Default false. */
  readonly exclusive?: boolean | undefined
  /**
   * Runs in a temporary fork: this workspace stays free, and several tries run beside one another. Needs no `exclusive`. `keep` merges the
   * changes: a path that differs here by then stays as it is, and is in `kept`. Default false.
   */
  readonly fork?: boolean | undefined
  /** Gives the commands the network that they have outside of a try. Default false: no host, since its effects cannot be taken back. */
  readonly network?: boolean | undefined
  /** Milliseconds from the end of the run. A try that is neither kept nor dropped by then is dropped. Default 3,600,000: an hour. */
  readonly decideWithin?: number | undefined
}

/** The effects of a command or function, which are not yet accepted. They are in place, and other changes are `EBUSY`, until `keep` or `drop`; or in a fork. */
export interface Try<Result> extends AsyncDisposable {
  /** The id of the checkpoint that was taken before. */
  readonly id: string
  readonly result: Result
  readonly changes: readonly Change[]
  /** Entries whose bytes were not saved, each with the reason. Their changes cannot be taken back, and those of some are not in `changes`. */
  readonly leftOut: readonly { readonly path: VirtualPath; readonly reason: string }[]
  /** The hosts that were asked for: at most 1,000 reports. */
  readonly connections: readonly ConnectionReport[]
  /** Returns the changes as `diff` of the workspace does. */
  diff(options?: Pick<DiffOptions, 'path' | 'signal'>): Promise<string>
  /**
   * Accepts all changes, or those at and below `paths`, and takes back the others. A move is one change with both of its paths, and so
   * are hard links of one file. Keeps the directories above that the try made.
   * @throws WorkspaceError `EINVAL`, before anything happens, for a path that the try did not change; `ECLOSED` after the end
   */
  keep(paths?: readonly string[]): Promise<RestoreResult>
  /** Takes back all changes. If this fails, the try stays open. @throws WorkspaceError `ECLOSED` after the end */
  drop(): Promise<RestoreResult>
  /** Drops the try if it is still open. */
  [Symbol.asyncDispose](): Promise<void>
}
