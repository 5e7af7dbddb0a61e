import type { FileType, SignalOption } from './file-types.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import type { SavedCheckpoint } from './checkpoint-engine.ts'

/** A saved state of all mounts that can be written to. */
export interface Checkpoint extends SavedCheckpoint {
  /** Entries whose bytes were not saved, each with the reason: at most 1,000. `checkpoints` does not give them. */
  readonly leftOut?: readonly { readonly path: VirtualPath; readonly reason: string }[] | undefined
}

export interface CheckpointOptions extends SignalOption {
  /** For people: at most 200 characters. */
  readonly label?: string | undefined
  /**
   * Take one only where something has changed since the latest checkpoint, as far as the engine knows; else give the latest. For
   * loops that ask often: it looks at changes of commands and calls only. Default false.
   */
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
  /** Say what would be restored, and change nothing. Default false. */
  readonly dryRun?: boolean | undefined
}

/** One difference between a checkpoint and the present. Times alone are not a difference. */
export interface Change {
  readonly path: VirtualPath
  readonly kind: 'created' | 'changed' | 'deleted' | 'moved'
  readonly type: FileType
  /** For `moved`: the path before. Entries below a moved directory that are otherwise the same are not named. */
  readonly from?: VirtualPath | undefined
  /** For `changed`, and for `moved` where more than the path is different. */
  readonly what?: readonly ('type' | 'content' | 'mode' | 'target')[] | undefined
}

/** A path that a restore left as it is. */
export interface Kept {
  readonly path: VirtualPath
  readonly reason: string
}

export interface RestoreResult {
  /** As `changes` names them: what was different, and is now as it was. With `dryRun`: what would be. */
  readonly restored: readonly Change[]
  /** Paths that were left as they are: changed meanwhile, not saved, or read-only. */
  readonly kept: readonly Kept[]
  /** The checkpoint of the state before: restore it to undo this. Absent with `dryRun`. */
  readonly undo?: string | undefined
}

/** Earlier states of a workspace's files. Without the option `checkpoints`, each of these is `ENOTSUP`. */
export interface CheckpointDoor {
  /**
   * Saves the present state of every mount that can be written to, whichever door made it. `/tmp` and read-only mounts are not
   * saved. Commands may run meanwhile: a file that changes at that moment is saved as it was read.
   *
   * @throws WorkspaceError `EDQUOT` above the cap of bytes, `ENOSPC` on a full disk: nothing is saved then
   */
  checkpoint(options?: CheckpointOptions): Promise<Checkpoint>
  /** The checkpoints that can be restored, the oldest first. */
  checkpoints(): Promise<readonly Checkpoint[]>
  /**
   * Names what is different from a checkpoint, sorted by path. Entries that the rules of today deny are not named.
   *
   * @throws WorkspaceError `ENOENT` for a checkpoint that is not known or was collected; `EINVAL` for one of another workspace
   */
  changes(options?: ChangesOptions): Promise<readonly Change[]>
  /** The differences as a unified diff; binary files with their sizes. It ends with a note where it has more than 1 MiB. */
  diff(options?: DiffOptions): Promise<string>
  /**
   * Brings files back to a checkpoint. It saves the present first, deletes only entries that were created since, and leaves a
   * path alone that changes meanwhile. Rules of today hold: denied entries and read-only parts stay as they are.
   *
   * @throws WorkspaceError `EBUSY` while commands or sessions run, with their ids; `EIO` for saved bytes that are damaged.
   * Nothing is changed then. `ENOSPC` carries `partial`.
   */
  restore(checkpoint: string, options?: RestoreOptions): Promise<RestoreResult>
}
