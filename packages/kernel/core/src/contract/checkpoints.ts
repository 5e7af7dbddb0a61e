import type { FileType, SignalOption } from './file-types.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import type { SavedCheckpoint } from './checkpoint-engine.ts'

export interface Checkpoint extends SavedCheckpoint {
  /** Entries whose bytes were not saved, each with the reason. At most 1,000. Absent in results of `checkpoints()`. */
  readonly leftOut?: readonly { readonly path: VirtualPath; readonly reason: string }[] | undefined
}

export interface CheckpointOptions extends SignalOption {
  /** At most 200 characters. */
  readonly label?: string | undefined
  /** Save a state only if commands or calls changed an entry since the latest checkpoint; else return that checkpoint. Default false. */
  readonly automatic?: boolean | undefined
}

export interface ChangesOptions extends SignalOption {
  /** The id of a checkpoint. Default: the latest checkpoint; in a fork, `forkedFrom`. */
  readonly since?: string | undefined
  /** The id of a checkpoint at or after `since`, which must be given too. Default: the current state. */
  readonly until?: string | undefined
  /** Limits the result to these paths and all entries below them. Default: all paths. */
  readonly paths?: readonly string[] | undefined
}

export interface DiffOptions extends SignalOption {
  /** The id of a checkpoint. Default: the latest checkpoint; in a fork, `forkedFrom`. */
  readonly since?: string | undefined
  /** As in {@link ChangesOptions}. */
  readonly until?: string | undefined
  /** A file, or a directory with all entries below it. Default: all paths. */
  readonly path?: string | undefined
}

export interface RestoreOptions extends SignalOption {
  /** Limits the restore to these paths and all entries below them. Default: all paths. */
  readonly paths?: readonly string[] | undefined
  /** Report the changes that a restore would undo, without changing files. Default false. */
  readonly dryRun?: boolean | undefined
}

/** One difference between a checkpoint and a later state. A different time alone is not a difference. */
export interface Change {
  readonly path: VirtualPath
  readonly kind: 'created' | 'changed' | 'deleted' | 'moved'
  readonly type: FileType
  /** For `moved`: the path before the move. Unchanged entries below a moved directory are not listed. */
  readonly from?: VirtualPath | undefined
  /** The aspects that differ. Present for `changed`; for `moved`, present if an aspect besides the path differs. */
  readonly what?: readonly ('type' | 'content' | 'mode' | 'target')[] | undefined
  /** Bytes of the file before the change. Absent if no file was there. */
  readonly sizeBefore?: number | undefined
  /** Bytes of the file after the change. Absent if no file is there. */
  readonly sizeAfter?: number | undefined
  /** True if the earlier bytes were not saved, so that they cannot be restored. */
  readonly unsaved?: true | undefined
  /** In a command's result: another command, session or call ran meanwhile, and may have made the change. */
  readonly shared?: true | undefined
}

export interface RestoreResult {
  /** The undone changes, in the form that `changes` returns. With `dryRun`: the changes that a restore would undo. */
  readonly restored: readonly Change[]
  /** Paths that were not restored: they changed during the restore, were not saved, or are read-only. */
  readonly kept: readonly { readonly path: VirtualPath; readonly reason: string }[]
  /** The id of the checkpoint that was saved before the restore. Absent with `dryRun`. */
  readonly undo?: string | undefined
}

/** Saved states of a workspace's files. Without the option `checkpoints`, each method rejects with `ENOTSUP`. */
export interface CheckpointDoor {
  /**
   * Saves every writable mount except `/tmp`. If a command changes a file meanwhile, the checkpoint contains the bytes that were read.
   * @throws WorkspaceError `EDQUOT` above the byte limit, `ENOSPC` on a full disk: in both cases no state is saved
   */
  checkpoint(options?: CheckpointOptions): Promise<Checkpoint>
  /** Returns the checkpoints that can be restored, the oldest first. */
  checkpoints(): Promise<readonly Checkpoint[]>
  /**
   * Returns the differences from a checkpoint, sorted by path. Omits entries that the current rules deny.
   * @throws WorkspaceError `ENOENT` for an unknown or deleted checkpoint; `EINVAL` for a checkpoint of another workspace
   */
  changes(options?: ChangesOptions): Promise<readonly Change[]>
  /** Returns the differences as a unified diff; for binary files, their sizes. A diff above 1 MiB is cut and ends with a note. */
  diff(options?: DiffOptions): Promise<string>
  /**
   * Restores files to a checkpoint. First saves the current state. Deletes only entries made after the checkpoint. Skips paths that change
   * meanwhile. The current rules apply: denied and read-only entries do not change.
   *
   * @throws WorkspaceError `EBUSY` while commands or sessions run; `EIO` for damaged bytes, before any change; `ENOSPC` with `partial`
   */
  restore(checkpoint: string, options?: RestoreOptions): Promise<RestoreResult>
}
