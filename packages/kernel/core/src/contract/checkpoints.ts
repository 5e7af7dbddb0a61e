import type { FileType, SignalOption } from './file-types.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import type { SavedCheckpoint } from './checkpoint-engine.ts'

export interface Checkpoint extends SavedCheckpoint {
  /** Entries whose bytes were not saved, each with the reason: at most 1,000. Absent in the result of `checkpoints`. */
  readonly leftOut?: readonly { readonly path: VirtualPath; readonly reason: string }[] | undefined
}

export interface CheckpointOptions extends SignalOption {
  /** At most 200 characters. */
  readonly label?: string | undefined
  /** Take a checkpoint only if commands or calls changed an entry since the latest one; else return the latest. Default false. */
  readonly automatic?: boolean | undefined
}

export interface ChangesOptions extends SignalOption {
  /** The id of a checkpoint. Default: the latest one. */
  readonly since?: string | undefined
  /** Only these paths, and everything below them. Default: all. */
  readonly paths?: readonly string[] | undefined
}

export interface DiffOptions extends SignalOption {
  /** The id of a checkpoint. Default: the latest one. */
  readonly since?: string | undefined
  /** A file, or a directory with everything below it. Default: all. */
  readonly path?: string | undefined
}

export interface RestoreOptions extends SignalOption {
  /** Only these paths, and everything below them. Default: all. */
  readonly paths?: readonly string[] | undefined
  /** Report the changes that a restore would take back, and change nothing. Default false. */
  readonly dryRun?: boolean | undefined
}

/** One difference between a checkpoint and the present. Times alone are not a difference. */
export interface Change {
  readonly path: VirtualPath
  readonly kind: 'created' | 'changed' | 'deleted' | 'moved'
  readonly type: FileType
  /** For `moved`: the earlier path. Unchanged entries below a moved directory are not listed. */
  readonly from?: VirtualPath | undefined
  /** The aspects that differ: for `changed`, and for `moved` if more than the path differs. */
  readonly what?: readonly ('type' | 'content' | 'mode' | 'target')[] | undefined
}

export interface RestoreResult {
  /** Changes that were taken back, in the form of `changes`. With `dryRun`: changes that would be taken back. */
  readonly restored: readonly Change[]
  /** Paths that were not restored: changed during the restore, not saved, or read-only. */
  readonly kept: readonly { readonly path: VirtualPath; readonly reason: string }[]
  /** The checkpoint before the restore. Absent with `dryRun`. */
  readonly undo?: string | undefined
}

/** Earlier states of a workspace's files. Without the option `checkpoints`, each of these is `ENOTSUP`. */
export interface CheckpointDoor {
  /**
   * Saves every writable mount, but not `/tmp`. A file that a command changes meanwhile is saved as it was read.
   * @throws WorkspaceError `EDQUOT` above the cap of bytes, `ENOSPC` on a full disk: nothing is saved then
   */
  checkpoint(options?: CheckpointOptions): Promise<Checkpoint>
  /** The checkpoints that can be restored, the oldest first. */
  checkpoints(): Promise<readonly Checkpoint[]>
  /**
   * Names the differences from a checkpoint, sorted by path, without entries that today's rules deny.
   * @throws WorkspaceError `ENOENT` for an unknown or collected checkpoint; `EINVAL` for one of another workspace
   */
  changes(options?: ChangesOptions): Promise<readonly Change[]>
  /** The differences as a unified diff; for binary files, their sizes. A diff above 1 MiB is cut, and ends with a note. */
  diff(options?: DiffOptions): Promise<string>
  /**
   * Brings files back to a checkpoint. Saves the present first, deletes only later entries, and skips paths that change meanwhile.
   * The present rules apply: denied and read-only entries do not change.
   *
   * @throws WorkspaceError `EBUSY` while commands or sessions run; `EIO` for damaged saved bytes: nothing is changed then. `ENOSPC` carries
   * `partial`.
   */
  restore(checkpoint: string, options?: RestoreOptions): Promise<RestoreResult>
}
