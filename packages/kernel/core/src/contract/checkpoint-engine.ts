import type { StorageAdapter } from './adapter.ts'
import type { HostDirectory, SignalOption } from './file-types.ts'
import type { MountPath, VirtualPath } from '../path/virtual-path.ts'

/** Keeps earlier states of a workspace's files. Made by `createCheckpoints` of `@ws/snapshots`. */
export interface CheckpointEngine {
  /** Takes a checkpoint before each command, and before each tool call that may change something. */
  readonly automatic: boolean
  /**
   * Begins to save the states of these mounts.
   *
   * @param directories of all mounts on this machine, also read-only ones: no state may lie in one
   * @throws WorkspaceError `ENOTSUP` for an unsupported mount; `EINVAL` for a state directory in a mount; `EBUSY` for one in use
   */
  attach(
    mounts: readonly CheckpointMount[],
    directories: ReadonlyMap<VirtualPath, HostDirectory>,
  ): Promise<AttachedCheckpoints>
}

export interface CheckpointMount {
  readonly at: VirtualPath
  readonly adapter: StorageAdapter
  /** Absent for stores without a place on this machine. */
  readonly directory?: HostDirectory | undefined
}

/** A file without `content` was left out: its bytes were not saved. */
export interface EntryState {
  readonly type: 'file' | 'directory' | 'symlink'
  /** Bytes of a file; 0 for a directory or a link. */
  readonly size: number
  /** Permission bits; absent where the store keeps none. */
  readonly mode?: number | undefined
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number
  /** Equal strings mean equal bytes of files, in one comparison. */
  readonly content?: string | undefined
  /** The stored target of a link. */
  readonly target?: string | undefined
  /** An identity of the entry that remains the same after a move. */
  readonly identity?: string | undefined
}

export interface SavedPlace {
  /** Position in the attached list. */
  readonly mount: number
  readonly path: MountPath
}

/** A path with two different states: type, content, target, mode or time. */
export interface Difference extends SavedPlace {
  /** Absent: nothing was there. */
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
  /** The id of a checkpoint that must not be deleted to free space for the new checkpoint. */
  readonly keep?: string | undefined
  readonly label?: string | undefined
  /** Saves only if an entry has changed since the last checkpoint. Default false. */
  readonly automatic?: boolean | undefined
}

export interface RestoreConflict extends SavedPlace {
  readonly reason: string
}

/** The states of one workspace's mounts. Errors are `WorkspaceError`s; a `path` in them is a mount path. */
export interface AttachedCheckpoints {
  /** Adapters to use in place of the attached ones, in order, so the engine sees changes. */
  readonly adapters: readonly StorageAdapter[]
  /**
   * Saves the present state of all mounts, with at most 1,000 entries left out. `undefined`: `automatic` found no change.
   * @throws WorkspaceError `EDQUOT` above the cap of bytes, `ENOSPC` on a full disk; nothing is saved then
   */
  save(
    options: SaveOptions,
  ): Promise<{ readonly checkpoint: SavedCheckpoint; readonly leftOut: readonly LeftOut[] } | undefined>
  /** The checkpoints that cover all mounts, the oldest first. */
  list(): Promise<readonly SavedCheckpoint[]>
  /**
   * Compares a checkpoint with a later one, or with the present.
   * @throws WorkspaceError `ENOENT` for an unknown or collected checkpoint; `EINVAL` for one of another workspace
   */
  compare(since: string, until: string | undefined, options: SignalOption): Promise<readonly Difference[]>
  /** A unified diff of two contents that {@link AttachedCheckpoints.compare} gave; for binary contents, one line with their sizes. */
  diff(difference: Difference, names: { readonly before: string; readonly after: string }): Promise<string>
  /**
   * Restores each path to `since` in one step, if the path is still as in `until`. Returns the paths that were skipped.
   * @throws WorkspaceError `EIO` for damaged bytes, before any change; `ENOSPC` with `partial`
   */
  restore(since: string, until: string, differences: readonly Difference[]): Promise<readonly RestoreConflict[]>
  /** Called when a command has ended: the engine scans ahead for the next checkpoint. */
  settle(): void
  close(): Promise<void>
}
