import type { WorkspaceError } from '../errors.ts'
import type { MountPath } from '../path/virtual-path.ts'
import type { StorageAdapter } from './adapter.ts'
import type { Driver, DriverListOptions, DriverWriteOptions } from './driver.ts'
import type {
  CreateDirectoryOptions,
  Entry,
  ListOptions,
  SignalOption,
  WriteData,
  WriteOptions,
  WriteResult,
} from './file-types.ts'

/**
 * An adapter as the core and the stores of this project call it. Every adapter will do: one that does not know these options gives more
 * entries, asks its store once more, or fails at an unreadable directory.
 */
export interface InnerAdapter extends StorageAdapter {
  /** Its caller holds the sole right to change it: writers before it have ended, or may change nothing any more. Default false. */
  readonly isSole?: boolean | undefined
  /** A place for objects that its one writer keeps for itself. They go with the store. */
  readonly beside?: StorageAdapter | undefined
  write(path: MountPath, data: WriteData, options?: WriteOptions & ListedOption): Promise<WriteResult>
  list(path: MountPath, options?: InnerListOptions): EntryIterator
  createDirectory(path: MountPath, options?: CreateDirectoryOptions & ListedOption): Promise<void>
  createSymlink?(path: MountPath, target: string, options?: ListedOption): Promise<WriteResult | void>
}

/** A driver as the base calls it. */
export interface InnerDriver extends Driver {
  write(path: MountPath, data: WriteData, options: DriverWriteOptions & ListedOption): Promise<WriteResult>
  list(path: MountPath, options: DriverListOptions & InnerListOptions): EntryIterator
  createDirectory(
    path: MountPath,
    options: CreateDirectoryOptions & ListedOption & { readonly recursive: boolean },
  ): Promise<void>
  createSymlink?(path: MountPath, target: string, options: ListedOption): Promise<WriteResult | void>
}

export interface InnerEntry extends Entry {
  /** When the object was written, in milliseconds since the epoch by the clock of the store: see `written`. */
  readonly writtenAt?: number | undefined
}

export interface EntryIterator extends AsyncIterableIterator<InnerEntry> {
  /**
   * The next entry, where it is at hand: a promise for each of a million entries costs more than reading them does.
   * `undefined` says nothing at all: ask `next()`. An adapter that always waits leaves it out.
   */
  nextNow?(): InnerEntry | undefined
}

export interface ListedOption extends SignalOption {
  /**
   * The caller has listed the store, which showed directories above the path, and at it what `ifVersion` says: nothing for a new link
   * or directory. A store that would have to ask for links there need not ask again. Default false; a write needs `ifVersion` as well.
   */
  readonly listed?: boolean | undefined
}

export interface InnerListOptions extends ListOptions {
  /** With `recursive`: entries say when their object was written, where the listing gives it for free. */
  readonly written?: boolean | undefined
  /**
   * With `recursive`: true for a directory that is not entered, as those in `exclude`. It can be asked several times about
   * one directory, and before the entry is given. An adapter that lists a whole tree in one request may leave it unused.
   */
  readonly skips?: ((directory: MountPath) => boolean) | undefined
  /** With `recursive`: called for a directory below that cannot be listed. Unless this throws, the listing leaves it out. */
  readonly onUnreadable?: ((directory: MountPath, error: WorkspaceError) => void) | undefined
  /**
   * With `recursive`: called before the entries of a directory are given, where the store can tell whether they have changed. The stamp
   * is another one whenever an entry was made, removed or replaced since; `undefined`: the entries are not to be remembered.
   *
   * It can be called several times about one directory, and the last stamp is that of the entries that follow. An adapter may leave
   * it unused, and does with `details`.
   *
   * @returns the names of the directories in it, which are given in place of all entries; `undefined`: all are given
   */
  readonly known?: ((directory: MountPath, stamp: string | undefined) => readonly string[] | undefined) | undefined
}
