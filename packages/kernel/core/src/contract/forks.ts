import type { VirtualPath } from '../path/virtual-path.ts'
import type { Change } from './checkpoints.ts'
import type { ForkOptions, SignalOption } from './file-types.ts'
import type { Workspace } from './workspace.ts'

export interface MergeOptions extends SignalOption {
  /**
   * Limits the merge to changes of the fork at these paths and below them. A move is one change with both of its paths, and so are hard
   * links of one file. Includes directories above that the fork made. Default: all changes.
   */
  readonly paths?: readonly string[] | undefined
  /** Reports what a merge would do, without changing files. Default false. */
  readonly dryRun?: boolean | undefined
}

export interface MergeResult {
  /** Changes of the fork that this workspace has now, in the form that `changes` returns. With `dryRun`: would have. */
  readonly merged: readonly Change[]
  /** Paths that both changed, and in different ways. This workspace keeps its own state, and the fork its own. */
  readonly conflicts: readonly { readonly path: VirtualPath; readonly reason: string }[]
  /** Paths of the fork's changes that the rules refuse, or whose bytes were not saved. Nothing changes there. */
  readonly kept: readonly { readonly path: VirtualPath; readonly reason: string }[]
  /** The id of the checkpoint that was saved before the merge. Absent with `dryRun`. */
  readonly undo?: string | undefined
}

/** Forks need the option `checkpoints`: without it, `fork` and `merge` reject with `ENOTSUP`. */
export interface ForkDoor {
  /** The id of the checkpoint that this fork and its origin share: `changes` and `diff` compare with it by default. Absent unless a fork. */
  readonly forkedFrom: string | undefined
  /**
   * Makes a second workspace at the same paths, with the same rules and executors, over copies of the writable mounts. Read-only mounts are
   * shared. Close the fork: this deletes its copies, except one in `directory`. For `directory`, one writable mount on a disk is needed.
   *
   * @throws WorkspaceError `ENOTSUP`: no checkpoints, a store without forks, or an executor with one workspace only; `EBUSY`: in a try, or
   * while changing calls, commands or sessions run; `EROFS`: nothing is writable; `EINVAL`: `directory`
   */
  fork(options?: ForkOptions): Promise<Workspace>
  /**
   * Takes over the changes of a fork of this workspace. A path that changed in both and differs is a conflict: its state here stays. A
   * different time alone is not a change. Saves the current state first, as `restore` does. Skips paths that change meanwhile. The current
   * rules apply. The fork does not change, and can be merged again.
   *
   * @throws WorkspaceError `EBUSY` while commands or sessions run here or in the fork; `EINVAL`: not a fork of this workspace, or `paths` that
   * it did not change; `ECLOSED`: a closed fork; `EIO` for damaged bytes, before any change; `ENOSPC` with `partial`
   */
  merge(fork: Workspace, options?: MergeOptions): Promise<MergeResult>
}
