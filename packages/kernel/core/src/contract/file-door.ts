import type {
  AppendOptions,
  ByteRange,
  DeleteOptions,
  Entry,
  ListOptions,
  MoveOptions,
  ReadOptions,
  ReadResult,
  ReadStreamOptions,
  ReadStreamResult,
  SearchHit,
  SignalOption,
  Stat,
  Times,
  TransferResult,
  Version,
  WriteOptions,
  WriteResult,
} from './file-types.ts'
import type { WorkspaceError } from '../errors.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import type { WatchEvent, WatchOptions } from './watching.ts'

export interface WorkspaceEntry extends Omit<Entry, 'path'> {
  readonly path: VirtualPath
  readonly mount?: true | undefined
  /** The stored target of a link, with `details: true`. Absent if the policy denies `readSymlink`. */
  readonly target?: string | undefined
}

export interface FollowOption {
  /** Also follow a link at the end of the path; a dangling link is `ENOENT`. Default false. */
  readonly followLinks?: boolean | undefined
}

export interface WorkspaceStatOptions extends SignalOption, FollowOption {}

export interface LastBytes {
  /** The maximum number of bytes, counted back from the end of the file. */
  readonly last: number
}

export interface WorkspaceReadStreamOptions extends Omit<ReadStreamOptions, 'range'> {
  /** A part of the file. Default: the whole file. */
  readonly range?: ByteRange | LastBytes | undefined
}

export interface WorkspaceReadOptions extends WorkspaceReadStreamOptions, Pick<ReadOptions, 'maxBytes'> {}

export interface WorkspaceListOptions extends Omit<ListOptions, 'exclude'> {
  /** Directories that are listed but not entered. Directories that the policy denies are never entered. At most 1,000. */
  readonly exclude?: readonly string[] | undefined
  /** With `recursive`: the number of levels; 1 lists only the directory's own entries. Default: all levels. */
  readonly maxDepth?: number | undefined
}

interface IgnoreOption {
  /**
   * Skips `.git` and every path that `.gitignore`, `.ignore` or `.rgignore` excludes, as ripgrep does.
   * Does not skip paths that `in` or a glob names. Default false.
   */
  readonly gitignore?: boolean | undefined
  /** Called for an entry that an option or a `!` glob excludes, perhaps several times. */
  readonly onLeftOut?: ((path: VirtualPath) => void) | undefined
  /**
   * Called for a skipped file that is larger than `maxFileBytes`, or on which another process has a lease.
   * Also called for an ignore file above 256 KiB, a line above 1 MiB, and a non-UTF-8 file if the pattern has letters beyond ASCII.
   */
  readonly onUnreadable?: ((file: VirtualPath, error: WorkspaceError) => void) | undefined
}

export interface WorkspaceGlobOptions extends SignalOption, IgnoreOption {
  /** The directory from which the globs start. Default: the workspace's root. */
  readonly in?: string | undefined
  /** Paths that are not entered. Paths that the policy denies are never entered. At most 1,000. */
  readonly exclude?: readonly string[] | undefined
  /** False: a wildcard does not match a dot at the start of a name, as in a shell; `.github/*.yml` still matches. Default true. */
  readonly includeHidden?: boolean | undefined
  /** Maximum number of entries. Default 10,000. */
  readonly maxMatches?: number | undefined
}

export interface WorkspaceSearchOptions extends SignalOption, IgnoreOption {
  /** A file or directory. Default: the workspace's root. */
  readonly in?: string | undefined
  /** Globs on the path below `in`: `*.ts`, `src/**`, `!*.min.js`. */
  readonly glob?: string | readonly string[] | undefined
  /** RE2 syntax. Default false: literal text. */
  readonly regex?: boolean | undefined
  /** Default true. */
  readonly caseSensitive?: boolean | undefined
  /** Maximum number of matching lines. Default 1,000. */
  readonly maxHits?: number | undefined
  /** Largest file to search, in bytes. Default 32 MiB. */
  readonly maxFileBytes?: number | undefined
  /** Paths to skip, with everything below them. At most 1,000. */
  readonly exclude?: readonly string[] | undefined
}

export interface WorkspaceSearchHit extends Omit<SearchHit, 'path'> {
  readonly path: VirtualPath
}

export interface ReadLinesOptions extends SignalOption {
  /** Lines to skip. Default 0. */
  readonly offset?: number | undefined
  /** Maximum number of lines. Default 2,000. The read also stops at 8,388,608 UTF-16 units. */
  readonly limit?: number | undefined
  /** Number of last lines to read, at most `limit`. Reads the whole file; for a huge file, use `read` with `range: { last }`. */
  readonly last?: number | undefined
}

export interface ReadLinesResult {
  /** Lines without their line ends. A final line end starts no further line. */
  readonly lines: readonly string[]
  /** The offset of the first line. If the requested offset lies beyond the end: the number of lines in the file. */
  readonly offset: number
  /** The `offset` for the next call. Absent at the end of the file. */
  readonly nextOffset?: number | undefined
  readonly stat: Stat
}

/** One replacement. Texts are compared byte for byte in UTF-8; no character has a special meaning. */
export interface TextEdit {
  /** The text to replace. Must occur exactly once, unless `all` is set. */
  readonly oldText: string
  readonly newText: string
  /** Replace every occurrence, without overlaps. At least one occurrence must exist. Default false. */
  readonly all?: boolean | undefined
}

/** Returns the new content for the old content. Runs again for each attempt. Equal bytes are not written. Its errors reject `edit`. */
export type EditFunction = (content: Uint8Array, stat: Stat) => Uint8Array | Promise<Uint8Array>

export interface EditOptions extends SignalOption {
  /** Edit only this version. Another version is `ECONFLICT`, without another attempt. */
  readonly ifVersion?: Version | undefined
  /** Milliseconds for further attempts after the first conflict. Default 5,000. */
  readonly timeout?: number | undefined
}

export interface EditResult {
  readonly version: Version
  readonly size: number
  /** Number of replaced places. For a function: 1 if the bytes changed, else 0. */
  readonly replacements: number
  readonly attempts: number
}

/** Text or bytes to write. A string is written as UTF-8; a lone surrogate in it is `EINVAL`. */
export type WorkspaceWriteData = string | Uint8Array | AsyncIterable<Uint8Array>

interface ParentsOption {
  /** Make missing parent directories that the policy allows to write. Default true. */
  readonly parents?: boolean | undefined
}

export interface WorkspaceAppendOptions extends Omit<AppendOptions, 'parents'>, ParentsOption {}

export interface WorkspaceMoveOptions extends Omit<MoveOptions, 'parents'>, ParentsOption {}

export interface WorkspaceCopyOptions extends WorkspaceMoveOptions {
  /** Also copy a directory, with everything below it. Default true. False: a directory is `EISDIR`. */
  readonly recursive?: boolean | undefined
}

export interface WorkspaceCreateDirectoryOptions extends SignalOption {
  /** Make missing parents, and accept an existing directory. Default true. */
  readonly recursive?: boolean | undefined
}

export interface WorkspaceWriteOptions extends Omit<WriteOptions, 'parents' | 'modifiedAt'>, ParentsOption {
  /**
   * Once the promise has resolved, the content survives a power cut. If the sync fails, the promise rejects, but the file is written.
   * Without `durable`, a power cut can leave the old content, the new content, or an empty file. Default false.
   */
  readonly durable?: boolean | undefined
}

/**
 * The file API of a workspace. Paths are absolute, or relative to the workspace's root. Links are followed inside the workspace.
 * The policy is checked at each step. Errors are `WorkspaceError`s with virtual paths. Aborts reject with `signal.reason`.
 */
export interface FileDoor {
  stat(path: string, options?: WorkspaceStatOptions): Promise<Stat>
  /** Returns true if `stat` resolves, and false for `ENOENT` and `ENOTDIR`. Rejects with every other error. */
  exists(path: string, options?: WorkspaceStatOptions): Promise<boolean>
  /** Returns the path of the entry without links and `..`. Needs the rights of `stat` with `followLinks`. A missing entry is `ENOENT`. */
  realPath(path: string, options?: SignalOption): Promise<VirtualPath>
  /** Returns a file's bytes, all or a range. More than `maxBytes` (default 256 MiB) are `EFBIG`: use `readStream`. */
  read(path: string, options?: WorkspaceReadOptions): Promise<ReadResult>
  /** Returns a file as text. Invalid UTF-8 is `EINVAL`. More than `maxBytes` (default 256 MiB) are `EFBIG`: use `readLines`. */
  readText(path: string, options?: WorkspaceReadOptions): Promise<string>
  readStream(path: string, options?: WorkspaceReadStreamOptions): Promise<ReadStreamResult>
  /** Returns a range of lines, in constant memory. Invalid UTF-8 is `EINVAL`. A returned line above 1,048,576 UTF-16 units is `EFBIG`. */
  readLines(path: string, options?: ReadLinesOptions): Promise<ReadLinesResult>
  /** Creates or replaces a file. Creates missing parents by default. */
  write(path: string, data: WorkspaceWriteData, options?: WorkspaceWriteOptions): Promise<WriteResult>
  /** Adds to the end of a file; creates a missing file. A stream above 8 MiB rewrites the file, and a change meanwhile is `ECONFLICT`. */
  append(path: string, data: WorkspaceWriteData, options?: WorkspaceAppendOptions): Promise<WriteResult>
  /**
   * Replaces parts of a file; other bytes and permission bits do not change. All edits apply to the old content; if one fails, none applies.
   * Needs the rights to read and write. Repeats the edit for up to `timeout` if the version changed.
   * With `conditionalWrite: 'process'`, a simultaneous change by another process may be lost. With `'none'`, `edit` is `ENOTSUP`.
   *
   * @throws WorkspaceError `EINVAL` for a missing or ambiguous `oldText` or overlapping edits; `ENOENT`; `EFBIG` above 256 MiB;
   * `ECONFLICT` if the file kept changing
   */
  edit(path: string, edits: TextEdit | readonly TextEdit[] | EditFunction, options?: EditOptions): Promise<EditResult>
  /** Streams entries with virtual paths, including dotfiles. `recursive` crosses mounts. Lists denied directories, not their entries. */
  list(path?: string, options?: WorkspaceListOptions): AsyncIterableIterator<WorkspaceEntry>
  /** Creates a directory. By default also creates parents, and accepts an existing directory. */
  createDirectory(path: string, options?: WorkspaceCreateDirectoryOptions): Promise<void>
  delete(path: string, options?: DeleteOptions): Promise<void>
  /** Moves an entry, also across mounts (by copy and delete). Creates missing parents of the destination by default. */
  move(source: string, destination: string, options?: WorkspaceMoveOptions): Promise<TransferResult>
  /** Copies an entry, also across mounts. Copies directories by default (`recursive`). */
  copy(source: string, destination: string, options?: WorkspaceCopyOptions): Promise<TransferResult>
  createSymlink(path: string, target: string, options?: SignalOption): Promise<void>
  readSymlink(path: string, options?: SignalOption): Promise<string>
  /**
   * Sets permission bits from 0 to 0o777. Follows links. Needs the right to write.
   * @throws WorkspaceError `ENOTSUP` if the store keeps no bits; `EINVAL` for other bits; `EBUSY` for a mount point or several hard links
   */
  chmod(path: string, mode: number, options?: SignalOption): Promise<void>
  /** Sets the time of the last change, in milliseconds since the epoch. Links, rights and errors as in `chmod`. */
  utimes(path: string, times: Times, options?: SignalOption): Promise<void>
  /**
   * Streams entries whose path below `in` matches a glob, across mounts. Sorted by name, a directory before its entries. No glob: `EINVAL`.
   * Follows links that `in` or a glob names, such as `link` in `link/*.ts`. Needs the rights of `list`.
   */
  glob(patterns: string | readonly string[], options?: WorkspaceGlobOptions): AsyncIterableIterator<WorkspaceEntry>
  /** Streams matching lines from every file below `in` that the policy allows to read, across mounts. */
  search(pattern: string, options?: WorkspaceSearchOptions): AsyncIterableIterator<WorkspaceSearchHit>
  /**
   * Watches paths for changes by this workspace, its commands and other programs. A path need not exist. Resolves when the watch has begun:
   * each later change is in an event, or covered by an `overflow`. Several changes between two looks are one event; an entry that was created
   * and deleted between them has none. Links are followed in the given paths only, and events keep these paths.
   *
   * The events of a call of this workspace follow at once. The events of a command wait in the iterator when `exec` or `wait` resolves.
   * No event names an entry whose `stat` the policy denies. The iterator ends after `return()` and `close()`, and rejects after an abort.
   *
   * @throws WorkspaceError `EINVAL`; `EACCES`: a path may not be read; `EFBIG`: more than 100,000 entries, also later by the iterator
   */
  watch(
    paths: string | readonly string[],
    options?: WatchOptions,
  ): Promise<AsyncIterableIterator<WatchEvent, undefined>>
}
