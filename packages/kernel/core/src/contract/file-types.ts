import type { WorkspaceError } from '../errors.ts'
import type { HostPath, MountPath } from '../path/virtual-path.ts'

export type FileType = 'file' | 'directory' | 'symlink' | 'other'

/** An opaque token for the state of one entry: equal tokens of one path mean no change. Never the word `absent`. */
export type Version = string

export interface Stat {
  /** `other` is a FIFO, socket or device: it is listed, and never opened. */
  readonly type: FileType
  /** Bytes; 0 for other types than files. */
  readonly size: number
  /** Milliseconds since the epoch, where the store keeps it and a Date holds it. */
  readonly modifiedAt?: number | undefined
  /** Permission bits (`0o777`), where the store keeps them. */
  readonly mode?: number | undefined
  readonly version: Version
}

/** A listed entry. Size, time, mode and version come if free, or with `details: true`. */
export interface Entry {
  /** From the adapter's root. */
  readonly path: MountPath
  readonly name: string
  readonly type: FileType
  readonly size?: number | undefined
  readonly modifiedAt?: number | undefined
  readonly mode?: number | undefined
  readonly version?: Version | undefined
  /** Set when no path can name this entry. `name` then shows the bytes as `\xNN`, for people only. */
  readonly unreachable?: true | undefined
}

export interface ByteRange {
  /** Bytes from the start of the file. At or beyond the file's end, no byte is read. Any value but an integer from 0: `EINVAL`. */
  readonly offset: number
  /** Bytes at most; to the end when absent. */
  readonly length?: number | undefined
}

export interface SignalOption {
  /** Aborts the operation: it rejects with `signal.reason`, and a write leaves the old content. */
  readonly signal?: AbortSignal | undefined
}

/**
 * The version of the entry at the path, or `absent`. A failed condition is `ECONFLICT`; a missing entry that is needed anyway is `ENOENT`.
 * A condition on a destination does not imply `overwrite`.
 */
export type Condition = Version | 'absent'

export interface StatOptions extends SignalOption {}

export interface ReadStreamOptions extends SignalOption {
  readonly range?: ByteRange | undefined
  /** `ECONFLICT` when the file has another version. */
  readonly ifVersion?: Version | undefined
}

export interface ReadOptions extends ReadStreamOptions {
  /** Most bytes at once; more are `EFBIG` before reading. Default: no limit; at a workspace 256 MiB. */
  readonly maxBytes?: number | undefined
}

export interface ReadResult {
  readonly bytes: Uint8Array
  /** The state that was read. `stat.size` is that of the whole file. */
  readonly stat: Stat
}

export interface ReadStreamResult {
  readonly stat: Stat
  /** Chunks of any size. Leaving the loop, or `stream.return()`, releases everything. */
  readonly stream: AsyncIterableIterator<Uint8Array>
}

/** Bytes, or chunks. A stream is consumed once, after all checks. */
export type WriteData = Uint8Array | AsyncIterable<Uint8Array>

export interface WriteOptions extends SignalOption {
  /** A version: replace exactly this version. `absent`: create, and never replace or follow an existing entry. */
  readonly ifVersion?: Condition | undefined
  /** Make missing parent directories. Default false: a missing parent is `ENOENT` where the store has a hierarchy. */
  readonly parents?: boolean | undefined
  /** Permission bits of a new file, where the store keeps them. A replaced file keeps its own. */
  readonly mode?: number | undefined
  /** The time of the content, as for `utimes`. The result shows whether the store keeps the time. Default: now. */
  readonly modifiedAt?: number | undefined
  /** The content, its name and new directories survive a power cut. Default false. Stores without `sync` ignore it. */
  readonly durable?: boolean | undefined
}

export interface WriteResult {
  readonly version: Version
  readonly size: number
  /** The given `modifiedAt`, if the store saves the time with the bytes. */
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
  /** Everything below, parents before their children. Default false. */
  readonly recursive?: boolean | undefined
  /** Subtrees to list without entering. */
  readonly exclude?: readonly MountPath[] | undefined
  /** Size, time, mode and version with each entry, even where that costs. Default false. */
  readonly details?: boolean | undefined
}

export interface CreateDirectoryOptions extends SignalOption {
  /** Make missing parents, and accept a directory that is there. Default false. */
  readonly recursive?: boolean | undefined
}

export interface DeleteOptions extends SignalOption {
  /** A directory with everything below it. Default false: a directory that is not empty is `ENOTEMPTY`. */
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
  /** A directory with everything below it. Default false: a directory is `EISDIR`. */
  readonly recursive?: boolean | undefined
}

export interface TransferResult {
  /** The version at the destination, where the store reports it for free. */
  readonly version?: Version | undefined
}

export interface SearchQuery {
  /** Data, never shell text; it may start with `-`. Matched within a line. */
  readonly pattern: string
  /** The pattern is an RE2 regular expression (linear time, no backreferences). Default false: literal text. */
  readonly regex?: boolean | undefined
  /** Default true. */
  readonly caseSensitive?: boolean | undefined
  readonly in: MountPath
  /**
   * Globs on the path below `in`. Without `/`, a glob matches the name at any depth; `!` excludes. Malformed: `EINVAL`.
   * Globs do not exclude a file that `in` names.
   */
  readonly glob?: readonly string[] | undefined
  readonly exclude?: readonly MountPath[] | undefined
  /** True for a directory or file to skip. An adapter may leave it unused. */
  readonly skips?: ((path: MountPath, isDirectory: boolean) => boolean) | undefined
  /** Most matching lines. Default 1,000. */
  readonly maxHits?: number | undefined
  /** Bytes of the largest file that is searched. Default 32 MiB. */
  readonly maxFileBytes?: number | undefined
}

export interface SearchOptions extends SignalOption {
  /** Called for a skipped file: larger than `maxFileBytes`, or held by another process; also for a line that is not searched to its end. */
  readonly onUnreadable?: ((file: MountPath, error: WorkspaceError) => void) | undefined
}

export interface RefreshOptions extends SignalOption {
  /** The directory whose tree is refreshed; it may be missing. Default: everything. */
  readonly path?: MountPath | undefined
}

export interface LinePart {
  readonly column: number
  /** The byte of the file at which the match begins, from 0, where it is known. */
  readonly offset?: number | undefined
}

export interface SearchHit {
  readonly path: MountPath
  /** From 1. */
  readonly line: number
  /** Characters (Unicode code points) from 1, of the first match in the line. */
  readonly column: number
  /**
   * The line without its end, or 2,000 characters around the match. Files with a NUL in the first 8,192 bytes are skipped, but not UTF-16.
   */
  readonly text: string
  /** Set where `text` is a part of its line. */
  readonly part?: LinePart | undefined
}

/** A command or a session that will see the tree through `hostPath`. */
export interface BeginCommandOptions extends SignalOption {
  /** True for a session or a background command: no caller waits for its end. Default false. */
  readonly background?: boolean | undefined
}

/** An entry that exists only for commands or only in the store. Each entry is reported once. */
export interface EntryNote<Path = MountPath> {
  readonly path: Path
  /** A part of a sentence, printed directly after the path. */
  readonly reason: string
  /** The new path of this machine's version, if the store's version replaced it at `path`. */
  readonly kept?: Path | undefined
}

/** Resolves when the command's changes are saved, with the entries that could not be saved. Only the first call counts. */
export type EndCommand = () => Promise<readonly EntryNote[] | void>

/** Never uid 0. */
export interface Owner {
  readonly uid: number
  readonly gid: number
}

/** Where an adapter's tree is on this machine. For executors and the workspace only. */
export interface HostDirectory {
  /** Canonical: no component is a link. */
  readonly path: HostPath
  /** `device:inode` of the directory. */
  readonly identity: string
  /** `device:inode` of each directory above it. */
  readonly ancestors: readonly string[]
  /** The user of files and commands. Absent where commands cannot run (as uid 0 only). */
  readonly owner?: Owner | undefined
  /** Why `owner` is absent, and the remedy, both without a host path. */
  readonly ownerProblem?: { readonly reason: string; readonly remedy: string } | undefined
}
