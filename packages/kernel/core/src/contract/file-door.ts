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

export interface WorkspaceEntry extends Omit<Entry, 'path'> {
  readonly path: VirtualPath
  readonly mount?: true | undefined
  /** The stored target of a link, with `details: true`. Absent where the policy denies `readSymlink`. */
  readonly target?: string | undefined
}

export interface FollowOption {
  /** Follow links at the end of the path too; a dangling one is `ENOENT`. Default false. */
  readonly followLinks?: boolean | undefined
}

export interface WorkspaceStatOptions extends SignalOption, FollowOption {}

export interface LastBytes {
  /** The maximum number of bytes, counted from the end of the file. */
  readonly last: number
}

export interface WorkspaceReadStreamOptions extends Omit<ReadStreamOptions, 'range'> {
  /** A part of the file. Default: all of it. */
  readonly range?: ByteRange | LastBytes | undefined
}

export interface WorkspaceReadOptions extends WorkspaceReadStreamOptions, Pick<ReadOptions, 'maxBytes'> {}

export interface WorkspaceListOptions extends Omit<ListOptions, 'exclude'> {
  /** Directories to list without entering, besides those that the policy denies. At most 1,000. */
  readonly exclude?: readonly string[] | undefined
  /** With `recursive`: levels, from 1 for the directory's own entries. Default: all. */
  readonly maxDepth?: number | undefined
}

interface IgnoreOption {
  /**
   * Skips `.git` and every path that `.gitignore`, `.ignore` or `.rgignore` excludes, as ripgrep does. Paths that `in` or a glob names
   * are not skipped. Default false.
   */
  readonly gitignore?: boolean | undefined
  /** Called for an entry that an option or a `!` glob leaves out, perhaps several times. */
  readonly onLeftOut?: ((path: VirtualPath) => void) | undefined
  /**
   * Called for a skipped file that is larger than `maxFileBytes`, or on which another process has a lease.
   * Also for an ignore file above 256 KiB, a file with a line above 1 MiB, and non-UTF-8 for a pattern beyond ASCII.
   */
  readonly onUnreadable?: ((file: VirtualPath, error: WorkspaceError) => void) | undefined
}

export interface WorkspaceGlobOptions extends SignalOption, IgnoreOption {
  /** A directory, which the globs start from. Default: the workspace's root. */
  readonly in?: string | undefined
  /** Paths that are not entered, besides those the policy denies. 1,000 at most. */
  readonly exclude?: readonly string[] | undefined
  /** False: a wildcard does not match a dot that begins a name, as in a shell; `.github/*.yml` does. Default true. */
  readonly includeHidden?: boolean | undefined
  /** Most entries. Default 10,000. */
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
  /** Default 1,000 matching lines. */
  readonly maxHits?: number | undefined
  /** Bytes of the largest file that is searched. Default 32 MiB. */
  readonly maxFileBytes?: number | undefined
  /** Paths that are not searched, with everything below them. 1,000 at most. */
  readonly exclude?: readonly string[] | undefined
}

export interface WorkspaceSearchHit extends Omit<SearchHit, 'path'> {
  readonly path: VirtualPath
}

export interface ReadLinesOptions extends SignalOption {
  /** Lines to skip. Default 0. */
  readonly offset?: number | undefined
  /** The maximum number of lines. Default 2,000. Reading stops earlier at 8,388,608 UTF-16 units. */
  readonly limit?: number | undefined
  /** The number of last lines to read. Keeps the limit. Reads the whole file; for a huge one, use `read` with `range: { last }`. */
  readonly last?: number | undefined
}

export interface ReadLinesResult {
  /** Without line ends. No line follows a final line end. */
  readonly lines: readonly string[]
  /** The offset of the first line. For an offset beyond the end: the number of lines in the file. */
  readonly offset: number
  /** The `offset` for the next call. Absent at the end of the file. */
  readonly nextOffset?: number | undefined
  readonly stat: Stat
}

/** Text is compared byte for byte in UTF-8; no character is special. */
export interface TextEdit {
  /** The text that is replaced. It must occur exactly once, unless `all` is set. */
  readonly oldText: string
  readonly newText: string
  /** Replace every occurrence, at least one, without overlaps. Default false. */
  readonly all?: boolean | undefined
}

/** Returns the new content for the old content. Called again for each attempt. Equal bytes are not written. Its errors are passed on. */
export type EditFunction = (content: Uint8Array, stat: Stat) => Uint8Array | Promise<Uint8Array>

export interface EditOptions extends SignalOption {
  /** Edit exactly this version. Any other version is `ECONFLICT`, without another attempt. */
  readonly ifVersion?: Version | undefined
  /** Milliseconds for further attempts after the first conflict. Default 5,000. */
  readonly timeout?: number | undefined
}

export interface EditResult {
  readonly version: Version
  readonly size: number
  /** Places that were replaced. For a function: 1 when the bytes changed, else 0. */
  readonly replacements: number
  readonly attempts: number
}

/** Text or bytes to write. A string is written as UTF-8; a lone surrogate in it is `EINVAL`. */
export type WorkspaceWriteData = string | Uint8Array | AsyncIterable<Uint8Array>

interface ParentsOption {
  /** Make missing parent directories where the policy allows writing. Default true. */
  readonly parents?: boolean | undefined
}

export interface WorkspaceAppendOptions extends Omit<AppendOptions, 'parents'>, ParentsOption {}

export interface WorkspaceMoveOptions extends Omit<MoveOptions, 'parents'>, ParentsOption {}

export interface WorkspaceCopyOptions extends WorkspaceMoveOptions {
  /** A directory with everything below it. Default true; with false a directory is `EISDIR`. */
  readonly recursive?: boolean | undefined
}

export interface WorkspaceCreateDirectoryOptions extends SignalOption {
  /** Make missing parents, and accept a directory that is there. Default true. */
  readonly recursive?: boolean | undefined
}

export interface WorkspaceWriteOptions extends Omit<WriteOptions, 'parents' | 'modifiedAt'>, ParentsOption {
  /**
   * The content survives a power cut once the write resolves; a failed sync rejects, though the file is written.
   * Without it, a power cut can leave the old content, the new one, or an empty file. Default false.
   */
  readonly durable?: boolean | undefined
}

/**
 * The file API of a workspace. Paths are absolute, or relative to the workspace's root. Links are followed inside the workspace;
 * the policy is asked at each step. Errors are `WorkspaceError`s with virtual paths; aborts reject with `signal.reason`.
 */
export interface FileDoor {
  stat(path: string, options?: WorkspaceStatOptions): Promise<Stat>
  /** True when `stat` finds something; false for `ENOENT` and `ENOTDIR`; every other error is thrown. */
  exists(path: string, options?: WorkspaceStatOptions): Promise<boolean>
  /** The path of the same entry without links and `..`. Rules judge it as `stat` with `followLinks`. Nothing there: `ENOENT`. */
  realPath(path: string, options?: SignalOption): Promise<VirtualPath>
  /** A file's bytes, all or a range. More than `maxBytes` (default 256 MiB) are `EFBIG`: use `readStream`. */
  read(path: string, options?: WorkspaceReadOptions): Promise<ReadResult>
  /** UTF-8; invalid bytes are `EINVAL`, more than `maxBytes` (default 256 MiB) are `EFBIG`: use `readLines`. */
  readText(path: string, options?: WorkspaceReadOptions): Promise<string>
  readStream(path: string, options?: WorkspaceReadStreamOptions): Promise<ReadStreamResult>
  /** A window of lines, with constant memory. Invalid UTF-8 is `EINVAL`; a line in it above 1,048,576 UTF-16 units is `EFBIG`. */
  readLines(path: string, options?: ReadLinesOptions): Promise<ReadLinesResult>
  /** Creates or replaces a file. Parents are made by default. */
  write(path: string, data: WorkspaceWriteData, options?: WorkspaceWriteOptions): Promise<WriteResult>
  /** Adds to the end of a file; makes a missing one. A stream above 8 MiB rewrites the file; a change meanwhile is `ECONFLICT`. */
  append(path: string, data: WorkspaceWriteData, options?: WorkspaceAppendOptions): Promise<WriteResult>
  /**
   * Replaces parts of a file; other bytes and permission bits do not change. All edits apply to the old content, together or not at all.
   * Needs the rights to read and write. Tries again for up to `timeout` if the version changed.
   * With `conditionalWrite` `process`, a change by another process may be lost in the moment of writing; with `none` it is `ENOTSUP`.
   *
   * @throws WorkspaceError `EINVAL` for a missing or ambiguous `oldText` or overlapping edits; `ENOENT`; `EFBIG` above 256 MiB;
   * `ECONFLICT` where the file kept changing
   */
  edit(path: string, edits: TextEdit | readonly TextEdit[] | EditFunction, options?: EditOptions): Promise<EditResult>
  /** Entries with absolute virtual paths, dotfiles included; recursive across mounts. Denied entries are listed, not entered. */
  list(path?: string, options?: WorkspaceListOptions): AsyncIterableIterator<WorkspaceEntry>
  /** Makes parents by default, and then accepts an existing directory. */
  createDirectory(path: string, options?: WorkspaceCreateDirectoryOptions): Promise<void>
  delete(path: string, options?: DeleteOptions): Promise<void>
  /** Also across mounts (copied, then deleted). Parents of the destination are made by default. */
  move(source: string, destination: string, options?: WorkspaceMoveOptions): Promise<TransferResult>
  /** Also across mounts. Directories too: `recursive` is the default here. */
  copy(source: string, destination: string, options?: WorkspaceCopyOptions): Promise<TransferResult>
  createSymlink(path: string, target: string, options?: SignalOption): Promise<void>
  readSymlink(path: string, options?: SignalOption): Promise<string>
  /**
   * Sets permission bits from 0 to 0o777. Follows links; needs the right to write.
   * @throws WorkspaceError `ENOTSUP` without bits in the store; `EINVAL` for other bits; `EBUSY` for a mount point or several hard links
   */
  chmod(path: string, mode: number, options?: SignalOption): Promise<void>
  /** Sets the time of the last change, in milliseconds since the epoch. Links, rights and errors as in `chmod`. */
  utimes(path: string, times: Times, options?: SignalOption): Promise<void>
  /**
   * Streams the entries whose path below `in` matches, across mounts. Sorted by name, a directory before its entries. No globs: `EINVAL`.
   * Follows links that `in` or a glob names, such as `link` in `link/*.ts`. Rules judge it as `list`.
   */
  glob(patterns: string | readonly string[], options?: WorkspaceGlobOptions): AsyncIterableIterator<WorkspaceEntry>
  /** Streams matching lines from every file below `in` that the policy allows to read, across mounts. */
  search(pattern: string, options?: WorkspaceSearchOptions): AsyncIterableIterator<WorkspaceSearchHit>
}
