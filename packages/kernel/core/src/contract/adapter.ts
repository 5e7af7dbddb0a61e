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
 * One tree of files in one store. Every `adapter-*` package implements this; callers use a `Workspace`.
 *
 * **Paths** are {@link MountPath}s from the adapter's own root. An adapter checks them (`paths.assertMount`) and never leaves its root,
 * for any argument.
 *
 * **Links are never followed.** If an operation would follow a symbolic link, it rejects with a `LinkSignal` before any effect.
 * That holds for a link before the last component, and at the last one for operations that follow: `read`, `readStream`, `append`, `chmod`,
 * `utimes`, `list`, `createDirectory` with `recursive`, `search`, and `write` (with `ifVersion: 'absent'` any entry is `ECONFLICT`).
 * `stat`, `delete`, `move`, `readSymlink` and `copy` work on the link itself.
 *
 * **Errors** are `WorkspaceError`s whose `path` is the path in the mount. Aborts reject with `signal.reason`.
 *
 * - nothing there: `ENOENT`; a file where a directory must be: `ENOTDIR`; a directory where a file must be: `EISDIR`;
 * - a FIFO, socket or device where a file must be: `EINVAL`, without opening it;
 * - a change of a read-only store: `EROFS`; a failed condition: `ECONFLICT`; a condition or operation that is not offered: `ENOTSUP`;
 * - deleting, moving, replacing, marking or writing the root: `EBUSY`; the root is gone: `ENOWORKSPACE`; after `close`: `ECLOSED`.
 *
 * **Writes are atomic.** A reader sees the old or the new content; a failed write leaves the old. Listings never show temporary files.
 */
export interface StorageAdapter extends AsyncDisposable {
  /** For people and messages: `local`, `memory`, `s3`, `readOnly(local)`. No secret, no host path. */
  readonly name: string
  readonly capabilities: AdapterCapabilities
  /** Names the place of the data, without a secret: equal words mean the same data, also across processes. Absent if unknown. */
  readonly identity?: string | undefined

  /** The stat of an entry. For a link: the stat of the link itself. */
  stat(path: MountPath, options?: StatOptions): Promise<Stat>

  /** A file's bytes, all or a range, with the stat of the state that was read. */
  read(path: MountPath, options?: ReadOptions): Promise<ReadResult>

  /** A file's bytes as a stream, in constant memory. Missing files and failed conditions reject here. */
  readStream(path: MountPath, options?: ReadStreamOptions): Promise<ReadStreamResult>

  /** Creates or replaces a file. Over a directory: `EISDIR`. */
  write(path: MountPath, data: WriteData, options?: WriteOptions): Promise<WriteResult>

  /**
   * Streams the entries of a directory, in no particular order. Errors reject the first `next()`. Links are listed as links.
   * An entry that appears or vanishes during the listing may be left out.
   */
  list(path: MountPath, options?: ListOptions): AsyncIterableIterator<Entry>

  /** Makes a directory. Existing: `EEXIST`, unless a directory with `recursive`. Missing parent: `ENOENT`, unless `recursive`. */
  createDirectory(path: MountPath, options?: CreateDirectoryOptions): Promise<void>

  /** Removes a file, a link, or a directory (see `recursive`). A missing entry is `ENOENT`, unless `force` is set. */
  delete(path: MountPath, options?: DeleteOptions): Promise<void>

  /**
   * Moves an entry to exactly that path. An existing destination is `EEXIST`; `overwrite` replaces it as POSIX `rename` does.
   * Into itself: `EINVAL`. Onto itself: nothing happens.
   */
  move(source: MountPath, destination: MountPath, options?: MoveOptions): Promise<TransferResult>

  /**
   * Copies an entry, links as links. An existing destination is `EEXIST`; `overwrite` replaces files and merges directories.
   * Into or onto itself: `EINVAL`.
   */
  copy(source: MountPath, destination: MountPath, options?: CopyOptions): Promise<TransferResult>

  /** Releases everything. Later calls are `ECLOSED`; closing twice is fine. */
  close(): Promise<void>

  /** Adds bytes at the end of a file; makes a missing one. Not atomic for readers. Capability `append`. */
  append?(path: MountPath, data: Uint8Array, options?: AppendOptions): Promise<WriteResult>

  /** Makes a link that stores `target`; an empty target, or NUL, is `EINVAL`. Existing: `EEXIST`. Capability `symlinks`. */
  createSymlink?(path: MountPath, target: string, options?: SignalOption): Promise<WriteResult | void>

  /** The stored target of a link. Not a link: `EINVAL`. Capability `symlinks`. */
  readSymlink?(path: MountPath, options?: SignalOption): Promise<string>

  /**
   * Sets permission bits from 0 to 0o777; other bits are `EINVAL`. Content and time remain; with `uniqueVersions` the version changes.
   * A directory that keeps no bits: `ENOTSUP`. A file with several hard links: `EBUSY`. Capability `chmod`.
   */
  chmod?(path: MountPath, mode: number, options?: SignalOption): Promise<void>

  /**
   * Sets the time of the last change, in milliseconds; `EINVAL` if the store cannot hold it. Other errors: as `chmod`. Capability `utimes`.
   */
  utimes?(path: MountPath, times: Times, options?: SignalOption): Promise<void>

  /** Streams the lines that match, and stops at the limits of the query. Capability `search`. */
  search?(query: SearchQuery, options?: SearchOptions): AsyncIterableIterator<SearchHit>

  /** Resolves when all changes acknowledged before the call are in the store. Capability `flush`. */
  flush?(options?: SignalOption): Promise<void>

  /**
   * Makes acknowledged writes, and writes of ended commands through `hostPath`, survive a power cut. `ENOTSUP` if the store cannot.
   * Only stores that may lose acknowledged writes have this method.
   */
  sync?(options?: SignalOption): Promise<void>

  /** Makes earlier changes by other writers visible to later calls. For stores with a `maxStaleness`. */
  refresh?(options?: RefreshOptions): Promise<void>

  /** A path on this machine, without I/O. For executors only. Capability `hostPath`. */
  hostPath?(path: MountPath): HostPath

  /** The real directory of a path, verified now. For executors and checks only. Capability `hostPath`. */
  hostDirectory?(path: MountPath): Promise<HostDirectory>

  /**
   * Called before a command that can see the tree; if it rejects, the command does not start.
   * For adapters that update the tree before a command, or save the changes after the command.
   */
  beginCommand?(options?: BeginCommandOptions): Promise<EndCommand>

  /** An empty adapter of the same kind for the workspace's private `/tmp`; `close()` removes it. Absent: no `/tmp`. */
  createScratch?(options?: SignalOption): Promise<StorageAdapter>
}
