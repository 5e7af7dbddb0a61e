import type { Entry, ListOptions, Stat, TransferResult, WriteOptions, WriteResult } from '../adapter/types.ts'
import type {
  AppendOptions,
  DeleteOptions,
  MoveOptions,
  ReadOptions,
  ReadResult,
  ReadStreamOptions,
  ReadStreamResult,
  SearchHit,
  SignalOption,
  StatOptions,
} from '../adapter/types.ts'
import type { VirtualPath } from '../path/virtual-path.ts'

/** An entry as callers see it: {@link Entry}, with a virtual path. */
export interface WorkspaceEntry extends Omit<Entry, 'path'> {
  readonly path: VirtualPath
  /** A mount begins here. */
  readonly mount?: true | undefined
}

export interface WorkspaceListOptions extends Omit<ListOptions, 'exclude' | 'skips' | 'onUnreadable'> {
  /** Paths that are listed and not entered, besides those the policy denies. 1,000 at most. */
  readonly exclude?: readonly string[] | undefined
}

export interface WorkspaceSearchOptions extends SignalOption {
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
}

export interface ReadLinesResult {
  /** Without their line ends. A final line without a line end counts; behind a final line end there is no further line. */
  readonly lines: readonly string[]
  /** The offset of the first line given: as asked for, or the number of lines when that lies behind the end. */
  readonly offset: number
  /** Where to go on: behind the last line given. Absent at the end of the file. */
  readonly nextOffset?: number | undefined
  readonly stat: Stat
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

export interface WorkspaceWriteOptions extends Omit<WriteOptions, 'parents'>, ParentsOption {
  /** Resolves only when the content is in the store for good: waits for the adapter's flush. Default false. */
  readonly durable?: boolean | undefined
}

/**
 * The file API of a workspace. Paths are strings: absolute, or relative to the workspace's root. Links are followed
 * within the virtual namespace, and the policy is asked for the place where each step lands. Every error is a
 * `WorkspaceError` with the virtual path, but for aborts, which reject with `signal.reason`.
 */
export interface FileDoor {
  /** The status of the entry at the path; does not follow a link at its end. */
  stat(path: string, options?: StatOptions): Promise<Stat>
  /** True when `stat` finds something; false for `ENOENT` and `ENOTDIR`; every other error is thrown. */
  exists(path: string, options?: SignalOption): Promise<boolean>
  /** A file's bytes, all or a range. More than `maxBytes` (default 256 MiB) are `EFBIG`: use `readStream`. */
  read(path: string, options?: ReadOptions): Promise<ReadResult>
  /** UTF-8; invalid bytes are `EINVAL`, more than `maxBytes` (default 256 MiB) are `EFBIG`: use `readLines`. */
  readText(path: string, options?: ReadOptions): Promise<string>
  readStream(path: string, options?: ReadStreamOptions): Promise<ReadStreamResult>
  /**
   * A window of lines, with constant memory. Invalid UTF-8 is `EINVAL`; a line in the window with more than 1,048,576 characters
   * (UTF-16 units) is `EFBIG`. Longer lines before and behind the window are fine.
   */
  readLines(path: string, options?: ReadLinesOptions): Promise<ReadLinesResult>
  /** Creates or replaces a file. Parents are made by default. */
  write(path: string, data: WorkspaceWriteData, options?: WorkspaceWriteOptions): Promise<WriteResult>
  append(path: string, data: string | Uint8Array, options?: WorkspaceAppendOptions): Promise<WriteResult>
  /** Entries with absolute virtual paths, dotfiles included; recursive across mounts. Denied entries are listed, not entered. */
  list(path?: string, options?: WorkspaceListOptions): AsyncIterableIterator<WorkspaceEntry>
  /** Makes a directory and its parents by default; one that is there is fine then. */
  createDirectory(path: string, options?: WorkspaceCreateDirectoryOptions): Promise<void>
  delete(path: string, options?: DeleteOptions): Promise<void>
  /** Also across mounts (copied, then deleted). Parents of the destination are made by default. */
  move(source: string, destination: string, options?: WorkspaceMoveOptions): Promise<TransferResult>
  /** Also across mounts. Directories too: `recursive` is the default here. */
  copy(source: string, destination: string, options?: WorkspaceCopyOptions): Promise<TransferResult>
  createSymlink(path: string, target: string, options?: SignalOption): Promise<void>
  readSymlink(path: string, options?: SignalOption): Promise<string>
  /** Matching lines in every mount below `in` that the policy lets be read. */
  search(pattern: string, options?: WorkspaceSearchOptions): AsyncIterableIterator<WorkspaceSearchHit>
}
