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

/** An entry as callers see it: {@link Entry}, with a virtual path. */
export interface WorkspaceEntry extends Omit<Entry, 'path'> {
  readonly path: VirtualPath
  /** A mount begins here. */
  readonly mount?: true | undefined
  /** The target of a link as it is stored, with `details: true`. Absent where the policy denies `readSymlink`. */
  readonly target?: string | undefined
}

export interface FollowOption {
  /** Follow links at the end of the path too, as `read` does. A link that leads nowhere is `ENOENT` then. Default false. */
  readonly followLinks?: boolean | undefined
}

export interface WorkspaceStatOptions extends SignalOption, FollowOption {}

/** The end of a file. */
export interface LastBytes {
  /** Bytes at most, from 0: the whole file where it has fewer. */
  readonly last: number
}

export interface WorkspaceReadStreamOptions extends Omit<ReadStreamOptions, 'range'> {
  /** A part of the file. Default: all of it. */
  readonly range?: ByteRange | LastBytes | undefined
}

export interface WorkspaceReadOptions extends WorkspaceReadStreamOptions, Pick<ReadOptions, 'maxBytes'> {}

export interface WorkspaceListOptions extends Omit<ListOptions, 'exclude'> {
  /** Paths that are listed and not entered, besides those the policy denies. 1,000 at most. */
  readonly exclude?: readonly string[] | undefined
  /** With `recursive` only: levels that are listed, from 1, which is the directory's own entries. Default: all. */
  readonly maxDepth?: number | undefined
}

interface IgnoreOption {
  /**
   * Leave out what `.gitignore`, `.ignore` and `.rgignore` ignore, and `.git` itself: by the rules of git, in the order of ripgrep, with
   * the files of the directories above. A path that `in` or a glob names is never left out. Default false.
   */
  readonly gitignore?: boolean | undefined
  /** Called for an entry that an option or a glob with `!` leaves out, though it might match. Perhaps several times for one. */
  readonly onLeftOut?: ((path: VirtualPath) => void) | undefined
  /**
   * Called for a file that is left out, since it is larger than `maxFileBytes`, or another process holds it. Also for an ignore file of more
   * than 256 KiB, which is not applied, for a file with a line of more than 1 MiB, of which the end is not searched, and for one that is not
   * UTF-8, where the pattern has other letters than those of ASCII.
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
  /** Ends after so many entries. Default 10,000. */
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
  /** Files above so many bytes are left out. Default 32 MiB. */
  readonly maxFileBytes?: number | undefined
  /** Paths that are not searched, with everything below them. 1,000 at most. */
  readonly exclude?: readonly string[] | undefined
}

export interface WorkspaceSearchHit extends Omit<SearchHit, 'path'> {
  readonly path: VirtualPath
}

export interface ReadLinesOptions extends SignalOption {
  /** Lines to skip, from 0. Default 0. */
  readonly offset?: number | undefined
  /** Lines at most. Default 2,000. There are fewer once they have 8,388,608 characters (UTF-16 units) together. */
  readonly limit?: number | undefined
  /**
   * The last lines instead, so many at most: without `offset` and `limit`. There are fewer once they have 8,388,608 characters
   * (UTF-16 units, line ends included) together. All of the file is read, to count its lines; for the end of a huge one use `read` with
   * `range: { last }`.
   */
  readonly last?: number | undefined
}

export interface ReadLinesResult {
  /** Without their line ends. A final line without a line end counts; after a final line end no line follows. */
  readonly lines: readonly string[]
  /** The offset of the first line given: as asked for, or the number of lines when that is after the end. */
  readonly offset: number
  /** Where to go on: after the last line given. Absent at the end of the file. */
  readonly nextOffset?: number | undefined
  readonly stat: Stat
}

/** One replacement. Text is compared byte for byte in UTF-8; no character is special. */
export interface TextEdit {
  /** The text that is replaced. It must occur exactly once, unless `all` is set. */
  readonly oldText: string
  readonly newText: string
  /** Replace every occurrence, at least one, from the start on without overlaps. Default false. */
  readonly all?: boolean | undefined
}

/**
 * Makes new content of the old. Called again for each try, with bytes of its own. Nothing is written where the bytes stay the
 * same. An error that it throws is passed on.
 */
export type EditFunction = (content: Uint8Array, stat: Stat) => Uint8Array | Promise<Uint8Array>

export interface EditOptions extends SignalOption {
  /** Edit exactly this version: any other is `ECONFLICT` at once, and nothing is tried again. */
  readonly ifVersion?: Version | undefined
  /** Milliseconds from the first conflict on in which the edit is tried again. Default 5,000. */
  readonly timeout?: number | undefined
}

export interface EditResult {
  /** The file's version now. */
  readonly version: Version
  /** Bytes in the file now. */
  readonly size: number
  /** Places that were replaced. For a function: 1 when the bytes changed, else 0. */
  readonly replacements: number
  /** How often the file was read: 1 without a conflict. */
  readonly attempts: number
}

/** Text or bytes to write. A string is written as UTF-8; a lone surrogate in it is `EINVAL`. */
export type WorkspaceWriteData = string | Uint8Array | AsyncIterable<Uint8Array>

interface ParentsOption {
  /** Make missing parent directories, as far as the policy lets them be written. Default true. */
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
   * The content survives a power cut once the write resolves: waits for the adapter's flush, and on a local disk for
   * `fsync` of the file and of the directories above it. A failed sync rejects, though the file is written. Without it, a
   * power cut can leave the old content, the new one, or an empty file. Default false.
   */
  readonly durable?: boolean | undefined
}

/**
 * The file API of a workspace. Paths are strings: absolute, or relative to the workspace's root. Links are followed
 * within the virtual namespace, and the policy is asked for the place where each step lands. Every error is a
 * `WorkspaceError` with the virtual path; aborts reject with `signal.reason`.
 */
export interface FileDoor {
  /** The status of the entry at the path; with `followLinks` of the entry where links lead. */
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
  /**
   * A window of lines, with constant memory. Invalid UTF-8 is `EINVAL`; a line in the window with more than 1,048,576
   * characters (UTF-16 units) is `EFBIG`. Longer lines before and after the window are fine.
   */
  readLines(path: string, options?: ReadLinesOptions): Promise<ReadLinesResult>
  /** Creates or replaces a file. Parents are made by default. */
  write(path: string, data: WorkspaceWriteData, options?: WorkspaceWriteOptions): Promise<WriteResult>
  /**
   * Adds to the end of a file, which is made when missing. A stream of up to 8 MiB is added in one step. A longer one is written
   * together with the old content, as `write` does: it is there whole or not at all, and a change of the file meanwhile is
   * `ECONFLICT`.
   */
  append(path: string, data: WorkspaceWriteData, options?: WorkspaceAppendOptions): Promise<WriteResult>
  /**
   * Replaces parts of a file that is there. Every other byte stays as it is, and so do its permission bits. Several
   * edits are all looked for in the old content, and land together or not at all. Needs the rights to read and write.
   *
   * The file is written only if it is still the version that was read; else the edit begins again with the new content,
   * for up to `timeout`. So edits and writes at the same time do not undo one another, as far as the store checks
   * versions: see `conditionalWrite` in its capabilities. With `process` a change by another process, commands
   * included, may be lost in the moment of writing. With `none` an edit is `ENOTSUP`.
   *
   * @throws WorkspaceError `EINVAL` where `oldText` is missing, occurs more than once without `all`, or edits overlap;
   * `ENOENT` for a missing file; `ECONFLICT` where it kept changing; `EFBIG` above 256 MiB
   */
  edit(path: string, edits: TextEdit | readonly TextEdit[] | EditFunction, options?: EditOptions): Promise<EditResult>
  /** Entries with absolute virtual paths, dotfiles included; recursive across mounts. Denied entries are listed, not entered. */
  list(path?: string, options?: WorkspaceListOptions): AsyncIterableIterator<WorkspaceEntry>
  /** Makes a directory and its parents by default; a directory that exists is fine then. */
  createDirectory(path: string, options?: WorkspaceCreateDirectoryOptions): Promise<void>
  delete(path: string, options?: DeleteOptions): Promise<void>
  /** Also across mounts (copied, then deleted). Parents of the destination are made by default. */
  move(source: string, destination: string, options?: WorkspaceMoveOptions): Promise<TransferResult>
  /** Also across mounts. Directories too: `recursive` is the default here. */
  copy(source: string, destination: string, options?: WorkspaceCopyOptions): Promise<TransferResult>
  createSymlink(path: string, target: string, options?: SignalOption): Promise<void>
  readSymlink(path: string, options?: SignalOption): Promise<string>
  /**
   * Sets the permission bits of a file or a directory, from 0 to 0o777. It follows links, and needs the right to write.
   *
   * @throws WorkspaceError `ENOTSUP` where the store keeps no bits; `EINVAL` for other bits, setuid, setgid and sticky included;
   * `EBUSY` for a mount point and for a file with several hard links
   */
  chmod(path: string, mode: number, options?: SignalOption): Promise<void>
  /** Sets the time of the last change, in milliseconds since the epoch. Links, rights and errors as in `chmod`. */
  utimes(path: string, times: Times, options?: SignalOption): Promise<void>
  /**
   * Files, directories and links whose path below `in` matches, in the syntax of `glob` in `search`, across mounts. Each
   * directory's entries come sorted by name, and a directory before what is in it. Links are followed where `in` or a glob
   * names them: `link` in `link/*.ts`. Rules judge it as `list`: denied directories are not entered. An empty list of globs is `EINVAL`.
   */
  glob(patterns: string | readonly string[], options?: WorkspaceGlobOptions): AsyncIterableIterator<WorkspaceEntry>
  /** Matching lines in every mount below `in` that the policy lets be read. */
  search(pattern: string, options?: WorkspaceSearchOptions): AsyncIterableIterator<WorkspaceSearchHit>
}
