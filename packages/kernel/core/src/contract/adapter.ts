import type { HostPath, MountPath } from '../path/virtual-path.ts'
import type { AdapterCapabilities } from './capabilities.ts'
import type { ChangeHints, HintOptions } from './watching.ts'
import type {
  AppendOptions,
  BeginCommandOptions,
  CopyOptions,
  CreateDirectoryOptions,
  DeleteOptions,
  EndCommand,
  Entry,
  ForkOptions,
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
 * One tree of files in one store. Every `adapter-*` package implements this interface; callers use a `Workspace`.
 *
 * **Paths** are {@link MountPath}s from the adapter's root. An adapter checks each path (`paths.assertMount`), and never leaves its root.
 *
 * **Links are never followed.** If an operation would follow a symbolic link, it rejects with a `LinkSignal` before any effect.
 * A link before the last component always rejects. A link at the end rejects for `read`, `readStream`, `append`, `chmod`, `utimes`, `list`,
 * `createDirectory` with `recursive`, `search` and `write`. With `ifVersion: 'absent'`, `write` rejects with `ECONFLICT` for any entry.
 * `stat`, `delete`, `move`, `readSymlink` and `copy` work on the link itself.
 *
 * **Errors** are `WorkspaceError`s whose `path` is the path in the mount. Aborts reject with `signal.reason`.
 *
 * - no entry at the path: `ENOENT`; a file where a directory must be: `ENOTDIR`; a directory where a file must be: `EISDIR`;
 * - a FIFO, socket or device where a file must be: `EINVAL`; the adapter does not open it;
 * - a change of a read-only store: `EROFS`; a failed condition: `ECONFLICT`; an unsupported condition or operation: `ENOTSUP`;
 * - a change of the root itself, also by `chmod` or `utimes`: `EBUSY`; a missing root: `ENOWORKSPACE`; a call after `close`: `ECLOSED`.
 *
 * **Writes are atomic.** A reader sees the old or the new content. A failed write keeps the old content. Listings omit temporary files.
 */
export interface StorageAdapter extends AsyncDisposable {
  /** The name for people and messages: `local`, `memory`, `s3`, `readOnly(local)`. Contains no secret and no host path. */
  readonly name: string
  readonly capabilities: AdapterCapabilities
  /** Identifies the place of the data, also across processes. Equal strings mean the same data. Contains no secret. Absent if unknown. */
  readonly identity?: string | undefined

  /** The stat of an entry. For a link: the stat of the link itself. */
  stat(path: MountPath, options?: StatOptions): Promise<Stat>

  /** Returns a file's bytes, all or a range, and the stat of the file state that was read. */
  read(path: MountPath, options?: ReadOptions): Promise<ReadResult>

  /** Returns a file's bytes as a stream, in constant memory. The call itself rejects for missing files and failed conditions. */
  readStream(path: MountPath, options?: ReadStreamOptions): Promise<ReadStreamResult>

  /** Creates or replaces a file. Rejects with `EISDIR` at a directory. */
  write(path: MountPath, data: WriteData, options?: WriteOptions): Promise<WriteResult>

  /**
   * Streams the entries of a directory, in no particular order. Errors reject the first `next()`. Links appear as links.
   * An entry that appears or vanishes during the listing may be left out.
   */
  list(path: MountPath, options?: ListOptions): AsyncIterableIterator<Entry>

  /** Creates a directory. An existing entry is `EEXIST`, a missing parent `ENOENT`. `recursive` accepts a directory and makes parents. */
  createDirectory(path: MountPath, options?: CreateDirectoryOptions): Promise<void>

  /** Removes a file, a link, or a directory (see `recursive`). A missing entry is `ENOENT`, unless `force` is set. */
  delete(path: MountPath, options?: DeleteOptions): Promise<void>

  /**
   * Moves an entry to the exact path `destination`. An existing entry there is `EEXIST`; `overwrite` replaces it as POSIX `rename` does.
   * Moving a directory into itself is `EINVAL`. Moving an entry onto itself changes nothing.
   */
  move(source: MountPath, destination: MountPath, options?: MoveOptions): Promise<TransferResult>

  /**
   * Copies an entry; a copied link remains a link. An existing destination is `EEXIST`; `overwrite` replaces files and merges directories.
   * Copying an entry into or onto itself is `EINVAL`.
   */
  copy(source: MountPath, destination: MountPath, options?: CopyOptions): Promise<TransferResult>

  /** Releases all resources. Later calls reject with `ECLOSED`; a second `close` is allowed. */
  close(): Promise<void>

  /** Adds bytes at the end of a file. Creates a missing file. Readers may see a part of the bytes. Capability `append`. */
  append?(path: MountPath, data: Uint8Array, options?: AppendOptions): Promise<WriteResult>

  /** Creates a link to `target`. An empty target, or NUL in it, is `EINVAL`. An existing entry is `EEXIST`. Capability `symlinks`. */
  createSymlink?(path: MountPath, target: string, options?: SignalOption): Promise<WriteResult | void>

  /** Returns the stored target of a link. Any other entry is `EINVAL`. Capability `symlinks`. */
  readSymlink?(path: MountPath, options?: SignalOption): Promise<string>

  /**
   * Sets permission bits from 0 to 0o777; other bits are `EINVAL`. Keeps content and time. With `uniqueVersions`, changes the version.
   * A directory in a store without directory modes: `ENOTSUP`. A file with several hard links: `EBUSY`. Capability `chmod`.
   */
  chmod?(path: MountPath, mode: number, options?: SignalOption): Promise<void>

  /** Sets the modification time, in milliseconds. `EINVAL`: the store cannot keep it. Other errors as in `chmod`. Capability `utimes`. */
  utimes?(path: MountPath, times: Times, options?: SignalOption): Promise<void>

  /** Streams the lines that match, up to the limits of the query. Capability `search`. */
  search?(query: SearchQuery, options?: SearchOptions): AsyncIterableIterator<SearchHit>

  /** Resolves when the store contains all changes that were acknowledged before the call. Capability `flush`. */
  flush?(options?: SignalOption): Promise<void>

  /**
   * Makes changes survive a power cut: acknowledged writes, and writes of ended commands through `hostPath`. `ENOTSUP` if the store cannot.
   * Only stores that may lose acknowledged writes in a power cut have this method.
   */
  sync?(options?: SignalOption): Promise<void>

  /** Makes earlier changes by other writers visible to later calls. Only stores with a `maxStaleness` above 0 need this method. */
  refresh?(options?: RefreshOptions): Promise<void>

  /** Returns the path on this machine, without I/O. For executors only. Capability `hostPath`. */
  hostPath?(path: MountPath): HostPath

  /** Returns the real directory of a path, checked in this call. For executors and checks only. Capability `hostPath`. */
  hostDirectory?(path: MountPath): Promise<HostDirectory>

  /**
   * Called before a command that can see the tree. If the call rejects, the command does not start.
   * For adapters that update the tree before a command, or save the changes after the command.
   */
  beginCommand?(options?: BeginCommandOptions): Promise<EndCommand>

  /**
   * Begins to note where entries change, by any writer. The path need not exist. Stores without news of changes have no such method.
   * A resolved watch misses no later change: after lost news, `take()` is `undefined`. Capability `watch`.
   */
  watch?(path: MountPath, options?: HintOptions): Promise<ChangeHints>

  /** Creates an empty adapter of the same kind for the workspace's private `/tmp`. Its `close()` deletes it. Absent: no `/tmp`. */
  createScratch?(options?: SignalOption): Promise<StorageAdapter>

  /**
   * Copies the tree, as it is now, into a new writable adapter: contents, links, modes, times and hard links. The two share no later change.
   * `close()` of the copy deletes the copy, unless `directory` is given. Rejects, and leaves nothing, if an entry cannot be copied.
   * Absent: the store cannot be forked.
   */
  createFork?(options?: ForkOptions): Promise<StorageAdapter>
}
