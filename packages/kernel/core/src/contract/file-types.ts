import type { WorkspaceError } from '../errors.ts'
import type { HostPath, MountPath } from '../path/virtual-path.ts'

export type FileType = 'file' | 'directory' | 'symlink' | 'other'

/** An opaque token for the state of one entry. Equal tokens of one path mean no change. Never equals `absent`. */
export type Version = string

export interface Stat {
  /** `other`: a FIFO, socket or device, which is listed but never opened. */
  readonly type: FileType
  /** Bytes of a file; 0 for other types. */
  readonly size: number
  /** Milliseconds since the epoch. Absent if the store keeps no time, or no Date can represent it. */
  readonly modifiedAt?: number | undefined
  /** Permission bits (`0o777`). Absent if the store keeps none. */
  readonly mode?: number | undefined
  readonly version: Version
}

/** A listed entry. Size, time, mode and version are present with `details: true`, or if they cost nothing. */
export interface Entry {
  /** The path from the adapter's root. */
  readonly path: MountPath
  readonly name: string
  readonly type: FileType
  readonly size?: number | undefined
  readonly modifiedAt?: number | undefined
  readonly mode?: number | undefined
  readonly version?: Version | undefined
  /** Set if no path can name this entry. `name` then shows the bytes as `\xNN`, for people only. */
  readonly unreachable?: true | undefined
}

export interface ByteRange {
  /** First byte, from 0. At or beyond the end of the file, the result is empty. Any value but an integer from 0 is `EINVAL`. */
  readonly offset: number
  /** Maximum number of bytes. Default: up to the end of the file. */
  readonly length?: number | undefined
}

export interface SignalOption {
  /** Aborts the operation. The promise rejects with `signal.reason`, and an aborted write keeps the old content. */
  readonly signal?: AbortSignal | undefined
}

/**
 * The expected version of the entry at the path, or `absent`. A failed condition is `ECONFLICT`. A missing but needed entry is `ENOENT`.
 * A condition on a destination does not imply `overwrite`.
 */
export type Condition = Version | 'absent'

export interface StatOptions extends SignalOption {}

export interface ForkOptions extends SignalOption {
  /**
   * A missing or empty directory of this machine for the copy, which stays there at `close`. Default: a temporary place, deleted at `close`.
   * `EINVAL` for a store without a directory, and for a directory that holds something.
   */
  readonly directory?: string | undefined
}

export interface ReadStreamOptions extends SignalOption {
  readonly range?: ByteRange | undefined
  /** The expected version of the file. Another version is `ECONFLICT`. */
  readonly ifVersion?: Version | undefined
}

export interface ReadOptions extends ReadStreamOptions {
  /** Maximum number of bytes. A larger result is `EFBIG`, before any read. Default: no limit; in a workspace 256 MiB. */
  readonly maxBytes?: number | undefined
}

export interface ReadResult {
  readonly bytes: Uint8Array
  /** The stat of the file state that was read. `stat.size` is the size of the whole file. */
  readonly stat: Stat
}

export interface ReadStreamResult {
  readonly stat: Stat
  /** Chunks of any size. Leaving the loop, or `stream.return()`, releases all resources. */
  readonly stream: AsyncIterableIterator<Uint8Array>
}

/** Bytes, or a stream of chunks. A stream is read once, after all checks. */
export type WriteData = Uint8Array | AsyncIterable<Uint8Array>

export interface WriteOptions extends SignalOption {
  /** A version: replace only this version. `absent`: create the file, and neither replace nor follow an existing entry. */
  readonly ifVersion?: Condition | undefined
  /** Make missing parent directories. Default false: a missing parent is `ENOENT` if the store has a hierarchy. */
  readonly parents?: boolean | undefined
  /** Permission bits of a new file, if the store keeps them. A replaced file keeps its bits. */
  readonly mode?: number | undefined
  /** The time of the content, as in `utimes`. The result shows whether the store keeps the time. Default: now. */
  readonly modifiedAt?: number | undefined
  /** The content, its name and new directories survive a power cut. Default false. Stores without `sync` ignore this option. */
  readonly durable?: boolean | undefined
}

export interface WriteResult {
  readonly version: Version
  readonly size: number
  /** The given `modifiedAt`. Absent if the store does not save the time with the bytes. */
  readonly modifiedAt?: number | undefined
}

export interface Times {
  /** The last change of the content, in milliseconds since the epoch, from 0. */
  readonly modifiedAt: number
}

export interface AppendOptions extends SignalOption {
  readonly ifVersion?: Condition | undefined
  readonly parents?: boolean | undefined
}

export interface ListOptions extends SignalOption {
  /** List all entries below the directory, parents before their children. Default false. */
  readonly recursive?: boolean | undefined
  /** Directories to list without entering them. */
  readonly exclude?: readonly MountPath[] | undefined
  /** Give size, time, mode and version for each entry, even at extra cost. Default false. */
  readonly details?: boolean | undefined
}

export interface CreateDirectoryOptions extends SignalOption {
  /** Make missing parents, and accept an existing directory. Default false. */
  readonly recursive?: boolean | undefined
}

export interface DeleteOptions extends SignalOption {
  /** Delete a directory with everything below it. Default false: a directory that is not empty is `ENOTEMPTY`. */
  readonly recursive?: boolean | undefined
  /** A missing entry is not an error. Default false. */
  readonly force?: boolean | undefined
  readonly ifVersion?: Version | undefined
}

export interface MoveOptions extends SignalOption {
  /** Replace the destination: a file by a file, an empty directory by a directory. Default false: `EEXIST`. */
  readonly overwrite?: boolean | undefined
  readonly ifSource?: Version | undefined
  readonly ifDestination?: Condition | undefined
  /** Make missing parents of the destination. Default false. */
  readonly parents?: boolean | undefined
}

export interface CopyOptions extends MoveOptions {
  /** Copy a directory with everything below it. Default false: a directory is `EISDIR`. */
  readonly recursive?: boolean | undefined
}

export interface TransferResult {
  /** The version at the destination. Absent if reporting it would cost the store an extra request. */
  readonly version?: Version | undefined
}

export interface SearchQuery {
  /** The text to find within a line. It is never shell text, and may start with `-`. */
  readonly pattern: string
  /** Read `pattern` as an RE2 regular expression (linear time, no backreferences). Default false: literal text. */
  readonly regex?: boolean | undefined
  /** Default true. */
  readonly caseSensitive?: boolean | undefined
  readonly in: MountPath
  /**
   * Globs for the path below `in`. A glob without `/` matches the name at any depth; `!` excludes. A malformed glob is `EINVAL`.
   * Globs do not exclude a file that `in` itself names.
   */
  readonly glob?: readonly string[] | undefined
  readonly exclude?: readonly MountPath[] | undefined
  /** Returns true for a directory or file to skip. An adapter may ignore this function. */
  readonly skips?: ((path: MountPath, isDirectory: boolean) => boolean) | undefined
  /** Maximum number of matching lines. Default 1,000. */
  readonly maxHits?: number | undefined
  /** Largest file to search, in bytes. Default 32 MiB. */
  readonly maxFileBytes?: number | undefined
}

export interface SearchOptions extends SignalOption {
  /** Called for a skipped file: above `maxFileBytes`, or leased by another process. Also for a line that was not searched to its end. */
  readonly onUnreadable?: ((file: MountPath, error: WorkspaceError) => void) | undefined
}

export interface RefreshOptions extends SignalOption {
  /** The directory whose tree is refreshed; may be missing. Default: the whole tree. */
  readonly path?: MountPath | undefined
}

export interface LinePart {
  readonly column: number
  /** Byte offset of the match in the file, from 0. Absent if unknown. */
  readonly offset?: number | undefined
}

export interface SearchHit {
  readonly path: MountPath
  /** Line number, from 1. */
  readonly line: number
  /** Position of the first match in the line, in Unicode code points from 1. */
  readonly column: number
  /**
   * The line without its end, or 2,000 characters around the match. Files with a NUL in the first 8,192 bytes are skipped, except UTF-16.
   */
  readonly text: string
  /** Set if `text` is only a part of its line. */
  readonly part?: LinePart | undefined
}

/** A command or a session that will access the tree through `hostPath`. */
export interface BeginCommandOptions extends SignalOption {
  /** True for a session or a background command: no caller waits for its end. Default false. */
  readonly background?: boolean | undefined
}

/** An entry that only commands can see, or that only the store contains. Each entry is reported once. */
export interface EntryNote<Path = MountPath> {
  readonly path: Path
  /** A part of a sentence, printed directly after the path. */
  readonly reason: string
  /** The path to which this machine's version was moved, if the store's version replaced it at `path`. */
  readonly kept?: Path | undefined
}

/** Resolves after saving the command's changes, with the entries that could not be saved. Only the first call has an effect. */
export type EndCommand = () => Promise<readonly EntryNote[] | void>

/** The user of files and commands. Never uid 0. */
export interface Owner {
  readonly uid: number
  readonly gid: number
}

/** The directory of an adapter's tree on this machine. For executors and the workspace only. */
export interface HostDirectory {
  /** The canonical path: no component is a link. */
  readonly path: HostPath
  /** `device:inode` of the directory. */
  readonly identity: string
  /** `device:inode` of each directory above this one. */
  readonly ancestors: readonly string[]
  /** The user of files and commands. Absent if commands cannot run, which can happen only as uid 0. */
  readonly owner?: Owner | undefined
  /** Why `owner` is absent, and the remedy, both without a host path. */
  readonly ownerProblem?: { readonly reason: string; readonly remedy: string } | undefined
}
