import type { HostPath, MountPath } from '../path/virtual-path.ts'
import type { AdapterCapabilities } from './capabilities.ts'
import type {
  AppendOptions,
  BeginCommandOptions,
  CopyOptions,
  CreateDirectoryOptions,
  DeleteOptions,
  EndCommand,
  Entry,
  HostDirectory,
  ListOptions,
  MoveOptions,
  ReadOptions,
  ReadResult,
  ReadStreamOptions,
  ReadStreamResult,
  RefreshOptions,
  SearchHit,
  SearchOptions,
  SearchQuery,
  SignalOption,
  Stat,
  StatOptions,
  Times,
  TransferResult,
  WriteData,
  WriteOptions,
  WriteResult,
} from './file-types.ts'

/**
 * One tree of files in one store. Every `adapter-*` package implements this; callers use a `Workspace` instead.
 *
 * **Paths** are {@link MountPath}s from the adapter's own root. An adapter checks them (`assertMountPath`) and is
 * confined to its root for any argument.
 *
 * **Links are never followed.** An adapter that meets a symbolic link before the last component, or at the last one in an
 * operation that follows, rejects with a `LinkSignal`, before any effect. Operations that follow: `read`, `readStream`,
 * `write` (not with `ifVersion: 'absent'`, for which any entry at the path is `ECONFLICT`), `append`, `chmod`, `utimes`,
 * `list`, `createDirectory` with `recursive`, `search`. Operations on the link itself: `stat`, `delete`, `move`, `readSymlink`,
 * and `copy`, which copies it as a link.
 *
 * **Errors** are `WorkspaceError`s whose `path` is the path inside the mount, but for aborts, which reject with
 * `signal.reason`. The same mistake has the same code everywhere:
 *
 * - nothing there: `ENOENT`; a file where a directory must be (before the last component included): `ENOTDIR`;
 *   a directory where a file must be: `EISDIR`; a FIFO, socket or device where a file must be: `EINVAL`, without opening it;
 * - a change of a read-only store: `EROFS`; a failed condition: `ECONFLICT`; a condition that is not offered, or an operation: `ENOTSUP`;
 * - the root cannot be deleted, moved, replaced, marked (`chmod`, `utimes`) or written to: `EBUSY`; the root itself is gone: `ENOWORKSPACE`;
 * - after `close`: `ECLOSED`.
 *
 * **Nothing half done.** A single write is atomic: a reader sees the old or the new content, and a write that fails
 * leaves the old. Temporary files are never visible in listings.
 */
export interface StorageAdapter extends AsyncDisposable {
  /** For people and messages: `local`, `memory`, `s3`, `readOnly(local)`. No secret, no host path. */
  readonly name: string
  readonly capabilities: AdapterCapabilities
  /**
   * Names the place of the data, without a secret: adapters with the same word show the same data, also in another process.
   * Absent where the adapter knows no such word.
   */
  readonly identity?: string | undefined

  /** The status of the entry at the path. Never follows. */
  stat(path: MountPath, options?: StatOptions): Promise<Stat>

  /** A file's bytes, all or a range, together with the stat of the very state that was read. */
  read(path: MountPath, options?: ReadOptions): Promise<ReadResult>

  /** A file's bytes as a stream with constant memory. Missing files and failed conditions reject here, not in the stream. */
  readStream(path: MountPath, options?: ReadStreamOptions): Promise<ReadStreamResult>

  /** Creates or replaces a file. Over a directory: `EISDIR`. */
  write(path: MountPath, data: WriteData, options?: WriteOptions): Promise<WriteResult>

  /**
   * The entries of a directory, in no particular order, streamed: an adapter never holds a large listing in memory.
   * Errors (`ENOENT`, `ENOTDIR`, a `LinkSignal`) reject the first `next()`. Links below are listed as links. An entry
   * that vanishes during the listing is left out. A new entry may be left out.
   */
  list(path: MountPath, options?: ListOptions): AsyncIterableIterator<Entry>

  /**
   * Makes a directory. Something there: `EEXIST`, except for a directory with `recursive`, which is fine. A missing
   * parent: `ENOENT`, except with `recursive`.
   */
  createDirectory(path: MountPath, options?: CreateDirectoryOptions): Promise<void>

  /** Removes a file, a link, or a directory (see `recursive`). Nothing there: `ENOENT`, but with `force`. */
  delete(path: MountPath, options?: DeleteOptions): Promise<void>

  /**
   * Moves an entry. The destination is the new path itself, never a directory to put it into. A destination that exists is
   * `EEXIST`, with `overwrite` replaced as POSIX `rename` does (`EISDIR`, `ENOTDIR`, `ENOTEMPTY`). Into itself: `EINVAL`.
   * Onto itself: nothing happens.
   */
  move(source: MountPath, destination: MountPath, options?: MoveOptions): Promise<TransferResult>

  /**
   * Copies an entry, links as links. A destination that exists is `EEXIST`; with `overwrite` a file replaces a file, and a
   * directory is merged into a directory. Into itself, and onto itself: `EINVAL`.
   */
  copy(source: MountPath, destination: MountPath, options?: CopyOptions): Promise<TransferResult>

  /** Releases everything. Later calls are `ECLOSED`; closing twice is fine. */
  close(): Promise<void>

  /** Adds bytes at the end of a file, which is made when missing. Not atomic for readers. Capability `append`. */
  append?(path: MountPath, data: Uint8Array, options?: AppendOptions): Promise<WriteResult>

  /**
   * Makes a link that holds `target` as it is; an empty one, or one with NUL, is `EINVAL`. Something there: `EEXIST`. A store that knows
   * the version of the new link gives it. Capability `symlinks`.
   */
  createSymlink?(path: MountPath, target: string, options?: SignalOption): Promise<WriteResult | void>

  /** A link's target as it is stored. No link: `EINVAL`. Capability `symlinks`. */
  readSymlink?(path: MountPath, options?: SignalOption): Promise<string>

  /**
   * Sets the permission bits of a file or a directory, from 0 to 0o777; others are `EINVAL`. The content stays, and so does its
   * time. With `uniqueVersions` the version changes. Where directories keep no bits, a directory is `ENOTSUP`. A file with
   * several hard links is `EBUSY`. Capability `chmod`.
   */
  chmod?(path: MountPath, mode: number, options?: SignalOption): Promise<void>

  /**
   * Sets the time of the last change of a file or a directory. The store keeps it to the millisecond; a time that it cannot
   * hold is `EINVAL`, and the old one stays. Versions, directories and hard links as in `chmod`. Capability `utimes`.
   */
  utimes?(path: MountPath, times: Times, options?: SignalOption): Promise<void>

  /** Lines that match, streamed; stops at its limits. Capability `search`. */
  search?(query: SearchQuery, options?: SearchOptions): AsyncIterableIterator<SearchHit>

  /** The barrier: when it resolves, everything acknowledged before is in the store, and no longer held back. Capability `flush`. */
  flush?(options?: SignalOption): Promise<void>

  /**
   * When it resolves, everything acknowledged before survives a power cut, and so does everything that ended commands wrote
   * through `hostPath`. Only stores have it that may lose acknowledged writes to a power cut. Where the store cannot sync
   * after all, it is `ENOTSUP`.
   */
  sync?(options?: SignalOption): Promise<void>

  /**
   * From now on, changes that others made in the store before this call are seen. There where a store may show older
   * states: see the capability `maxStaleness`.
   */
  refresh?(options?: RefreshOptions): Promise<void>

  /** Where a path is on this machine; lexical, without I/O. For executors only. Capability `hostPath`. */
  hostPath?(path: MountPath): HostPath

  /** The real directory of a path, verified now. For executors and checks only. Capability `hostPath`. */
  hostDirectory?(path: MountPath): Promise<HostDirectory>

  /**
   * Called before a command or a session that can see the tree. The command starts when this resolves. It does not start
   * when this rejects. An adapter has it whose tree must be brought up to date first, or whose changes must be saved after.
   */
  beginCommand?(options?: BeginCommandOptions): Promise<EndCommand>

  /**
   * An empty adapter of the same kind for the workspace's `/tmp`, private to it, emptied and removed by its `close()`.
   * A workspace has no `/tmp` where the adapter of its first mount has none.
   */
  createScratch?(options?: SignalOption): Promise<StorageAdapter>
}
