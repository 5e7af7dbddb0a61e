import type { StorageAdapter } from './adapter.ts'
import type { HostDirectory, SignalOption } from './file-types.ts'
import type { MountPath, VirtualPath } from '../path/virtual-path.ts'

/** Keeps earlier states of a workspace's files, by mount paths. Made by `createCheckpoints` of `@ws/snapshots`. */
export interface CheckpointEngine {
  /** A checkpoint is taken before each command, and before each tool call that may change something. */
  readonly automatic: boolean
  /**
   * Begins to keep the states of these mounts. Errors carry the mount's virtual path.
   *
   * @param directories of all mounts on this machine, also read-only ones: no state may lie in one
   * @throws WorkspaceError `ENOTSUP` for a mount that it cannot save; `EINVAL` for a state directory in a mount; `EBUSY` if another process
   * has it
   */
  attach(
    mounts: readonly CheckpointMount[],
    directories: ReadonlyMap<VirtualPath, HostDirectory>,
  ): Promise<AttachedCheckpoints>
}

/** One mount that commands or callers may write to. */
export interface CheckpointMount {
  readonly at: VirtualPath
  readonly adapter: StorageAdapter
  readonly directory?: HostDirectory | undefined
}

/** The state of one entry. A file without `content` was left out: its bytes were not saved. */
export interface EntryState {
  readonly type: 'file' | 'directory' | 'symlink'
  /** Bytes; 0 for all but files. */
  readonly size: number
  /** Permission bits; absent where the store keeps none. */
  readonly mode?: number | undefined
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number
  /** For a file: equal strings mean equal bytes, in one comparison. {@link AttachedCheckpoints.diff} takes it. */
  readonly content?: string | undefined
  /** The target of a link, as it is stored. */
  readonly target?: string | undefined
  /** The entry itself, under whatever name: the same string for an entry that was moved. */
  readonly identity?: string | undefined
}

/** A place in one of the attached mounts. */
export interface SavedPlace {
  /** The position of its mount in the list that was attached. */
  readonly mount: number
  readonly path: MountPath
}

/** A path whose two states are not the same in type, content, target, mode or time. */
export interface Difference extends SavedPlace {
  readonly before?: EntryState | undefined
  readonly after?: EntryState | undefined
}

/** An entry that a checkpoint could not save. */
export interface LeftOut extends SavedPlace {
  readonly reason: string
}

export interface SavedCheckpoint {
  readonly id: string
  readonly label?: string | undefined
  readonly createdAt: number
  readonly automatic: boolean
}

export interface SaveOptions extends SignalOption {
  /** The id of a checkpoint that must not make room for this one. */
  readonly keep?: string | undefined
  readonly label?: string | undefined
  /** Saves only where something has changed since the last checkpoint. Default false. */
  readonly automatic?: boolean | undefined
}

export interface RestoreConflict extends SavedPlace {
  readonly reason: string
}

/** The states of one workspace's mounts. Errors are `WorkspaceError`s; a `path` in them is a mount path. */
export interface AttachedCheckpoints {
  /** Used in place of the adapters that were attached, in their order: so the engine learns of changes. */
  readonly adapters: readonly StorageAdapter[]
  /**
   * Saves the present state of all mounts, with at most 1,000 entries left out. `undefined`: `automatic` found no change.
   * @throws WorkspaceError `EDQUOT` above the cap of bytes, `ENOSPC` on a full disk; nothing is saved then
   */
  save(
    options: SaveOptions,
  ): Promise<{ readonly checkpoint: SavedCheckpoint; readonly leftOut: readonly LeftOut[] } | undefined>
  /** Those that cover all mounts, the oldest first. */
  list(): Promise<readonly SavedCheckpoint[]>
  /**
   * Compares a checkpoint with a later one, or with the present.
   * @throws WorkspaceError `ENOENT` for an unknown or collected checkpoint; `EINVAL` for one of another workspace
   */
  compare(since: string, until: string | undefined, options: SignalOption): Promise<readonly Difference[]>
  /** A unified diff of two contents that {@link AttachedCheckpoints.compare} gave; one line of sizes where they are not text. */
  diff(difference: Difference, names: { readonly before: string; readonly after: string }): Promise<string>
  /**
   * Brings paths back to `since`, each at once, and only if still as in `until`. Returns the paths left as they are.
   * @throws WorkspaceError `EIO` for damaged bytes, before any change; `ENOSPC` with `partial`
   */
  restore(since: string, until: string, differences: readonly Difference[]): Promise<readonly RestoreConflict[]>
  /** Called when a command has ended: the engine scans ahead for the next checkpoint. */
  settle(): void
  close(): Promise<void>
}
