import type { StorageAdapter } from './adapter.ts'
import type { HostDirectory, SignalOption } from './file-types.ts'
import type { MountPath, VirtualPath } from '../path/virtual-path.ts'

/** Saves states of a workspace's files. `createCheckpoints` of `@ws/snapshots` makes an engine. */
export interface CheckpointEngine {
  /** Takes a checkpoint before each command, and before each tool call that may change something. */
  readonly automatic: boolean
  /**
   * Begins to save the states of these mounts.
   *
   * @param directories the directories of all mounts on this machine, also read-only ones: none may contain the state directory
   * @throws WorkspaceError `ENOTSUP`: unsupported mount; `EINVAL`: state directory inside a mount; `EBUSY`: state directory in use
   */
  attach(
    mounts: readonly CheckpointMount[],
    directories: ReadonlyMap<VirtualPath, HostDirectory>,
  ): Promise<AttachedCheckpoints>
}

export interface CheckpointMount {
  readonly at: VirtualPath
  readonly adapter: StorageAdapter
  /** Absent for stores without a directory on this machine. */
  readonly directory?: HostDirectory | undefined
}

/** The saved state of an entry. A file without `content` was omitted: its bytes were not saved. */
export interface EntryState {
  readonly type: 'file' | 'directory' | 'symlink'
  /** Bytes of a file; 0 for a directory or a link. */
  readonly size: number
  /** Permission bits; absent if the store keeps none. */
  readonly mode?: number | undefined
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number
  /** Identifies the bytes of a file. Within one comparison, equal strings mean equal bytes. */
  readonly content?: string | undefined
  /** The stored target of a link. */
  readonly target?: string | undefined
  /** Identifies the entry. A move does not change it. */
  readonly identity?: string | undefined
}

export interface SavedPlace {
  /** Index in the list of attached mounts. */
  readonly mount: number
  readonly path: MountPath
}

/** A path whose type, content, target, mode or time differs between two states. */
export interface Difference extends SavedPlace {
  /** Absent if no entry was there. */
  readonly before?: EntryState | undefined
  readonly after?: EntryState | undefined
}

export interface LeftOut extends SavedPlace {
  readonly reason: string
}

export interface SavedCheckpoint {
  readonly id: string
  readonly label?: string | undefined
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  readonly automatic: boolean
}

export interface SaveOptions extends SignalOption {
  /** The id of a checkpoint to keep. It is not deleted to free space for the new checkpoint. */
  readonly keep?: string | undefined
  readonly label?: string | undefined
  /** Saves only if an entry has changed since the last checkpoint. Default false. */
  readonly automatic?: boolean | undefined
  /** Notes states without new bytes, where there is no room for these. A restore to this checkpoint skips such files. Default false. */
  readonly withoutBytes?: boolean | undefined
}

/** The checkpoints of an open try. */
export interface HeldCheckpoints {
  /** Taken before the try. */
  readonly since: string
  /** Taken after the try. Absent while the try runs or is taken back. */
  readonly until?: string | undefined
}

export interface RestoreConflict extends SavedPlace {
  readonly reason: string
}

/** A path that a fork changed. `before` is its state at the shared checkpoint, `after` its state in the fork now. */
export interface ForkDifference extends Difference {
  /** `unchanged`: the origin has the state `before`; `same`: it has the state `after`; else `changed`. Times do not count. */
  readonly ours: 'unchanged' | 'same' | 'changed'
}

/** The saved states of one workspace's mounts. Errors are `WorkspaceError`s with mount paths. */
export interface AttachedCheckpoints {
  /** Adapters to use in place of the attached adapters, in the same order. Through these, the engine notices changes. */
  readonly adapters: readonly StorageAdapter[]
  /** The checkpoints of a try that was open when an earlier process ended. */
  readonly held?: HeldCheckpoints | undefined
  /**
   * Keeps checkpoints from deletion, and for the next process, until the next call. `undefined` keeps none.
   * @throws WorkspaceError `ENOTSUP`: the checkpoints of a mount end with this process, but its files do not
   */
  hold(held: HeldCheckpoints | undefined): Promise<void>
  /**
   * Saves the current state of all mounts. Reports at most 1,000 omitted entries. `undefined`: `automatic` found no change.
   * @throws WorkspaceError `EDQUOT` above the byte limit, `ENOSPC` on a full disk; in both cases no state is saved
   */
  save(
    options: SaveOptions,
  ): Promise<{ readonly checkpoint: SavedCheckpoint; readonly leftOut: readonly LeftOut[] } | undefined>
  /** The checkpoints that cover all mounts, the oldest first. */
  list(): Promise<readonly SavedCheckpoint[]>
  /**
   * Compares a checkpoint with a later checkpoint, or with the current state.
   * @throws WorkspaceError `ENOENT` for an unknown or deleted checkpoint; `EINVAL` for a checkpoint of another workspace
   */
  compare(since: string, until: string | undefined, options: SignalOption): Promise<readonly Difference[]>
  /** Returns a unified diff of a result of {@link AttachedCheckpoints.compare}; for binary contents, one line with their sizes. */
  diff(difference: Difference, names: { readonly before: string; readonly after: string }): Promise<string>
  /**
   * Restores each path to its state in `since`, in one step. Skips a path that differs from `until`. Returns the skipped paths.
   * @param discards whether files whose bytes in `until` were not saved may be lost. Default false: they are skipped
   * @throws WorkspaceError `EIO` for damaged bytes, before any change; `ENOSPC` with `partial`
   */
  restore(
    since: string,
    until: string,
    differences: readonly Difference[],
    options?: { readonly discards?: boolean },
  ): Promise<readonly RestoreConflict[]>
  /** The checkpoint that a fork and its origin share. Absent unless a fork. */
  readonly forkedFrom?: string | undefined
  /**
   * Begins to save the states of a fork: `mounts` are copies of the attached mounts, in the same order, taken after `checkpoint`. The fork
   * has a checkpoint of the same id with the copied states. Both are kept until the fork ends: at its `close` if `isTemporary`, else when
   * its directory is gone. Until then, `attach` recognises the directory.
   */
  fork(
    checkpoint: string,
    mounts: readonly CheckpointMount[],
    directories: ReadonlyMap<VirtualPath, HostDirectory>,
    options: { readonly isTemporary: boolean },
  ): Promise<AttachedCheckpoints>
  /**
   * Compares a fork's current state with the shared checkpoint, and with a checkpoint of this workspace or its current state.
   * @throws WorkspaceError `EINVAL` for a fork of another workspace
   */
  compareFork(
    fork: AttachedCheckpoints,
    until: string | undefined,
    options: SignalOption,
  ): Promise<readonly ForkDifference[]>
  /** Gives each path its state in the fork, as of the latest {@link AttachedCheckpoints.compareFork}. Else as `restore`. */
  merge(
    fork: AttachedCheckpoints,
    until: string,
    differences: readonly Difference[],
  ): Promise<readonly RestoreConflict[]>
  /** Called when a command has ended. The engine then scans ahead for the next checkpoint. */
  settle(): void
  close(): Promise<void>
}
