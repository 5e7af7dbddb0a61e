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

/** An adapter with internal options of the core and this project's stores. The options only save work. */
export interface InnerAdapter extends StorageAdapter {
  /** True if no other program can change the store. Default false. */
  readonly isSole?: boolean | undefined
  /** Storage for further objects of the store's only writer. Deleted together with the store. */
  readonly beside?: StorageAdapter | undefined
  /** Returns a watch over the tree. `undefined`: this system does not report changes. */
  watchTree?(): TreeWatch | undefined
  write(path: MountPath, data: WriteData, options?: WriteOptions & ListedOption): Promise<WriteResult>
  list(path: MountPath, options?: InnerListOptions): EntryIterator
  createDirectory(path: MountPath, options?: CreateDirectoryOptions & ListedOption): Promise<void>
  createSymlink?(path: MountPath, target: string, options?: ListedOption): Promise<WriteResult | void>
}

export interface InnerDriver extends Driver {
  write(path: MountPath, data: WriteData, options: DriverWriteOptions & ListedOption): Promise<WriteResult>
  list(path: MountPath, options: DriverListOptions & InnerListOptions): EntryIterator
  createDirectory(
    path: MountPath,
    options: CreateDirectoryOptions & ListedOption & { readonly recursive: boolean },
  ): Promise<void>
  createSymlink?(path: MountPath, target: string, options: ListedOption): Promise<WriteResult | void>
  watchTree?(): TreeWatch | undefined
}

/** Reports which watched directories of a tree changed, by any program. */
export interface TreeWatch {
  /** Returns whether later changes of a directory will be reported. */
  has(directory: MountPath): boolean
  /** Watches directories, in an order with parents first. While a call runs, further calls do nothing. Never rejects. */
  add(directories: readonly MountPath[]): Promise<void>
  /**
   * Returns the changes after a position. Without a position, returns no changes, but the current position.
   *
   * @returns `undefined` if changes may be unknown: the caller must read all directories again
   */
  since(position: number | undefined): Promise<
    | {
        readonly position: number
        /** Directories whose entries, mode or owner changed. */
        readonly changed: ReadonlySet<MountPath>
        /** Paths at which there may be another directory now. Earlier findings below these paths are invalid. */
        readonly replaced: ReadonlySet<MountPath>
      }
    | undefined
  >
}

export interface InnerEntry extends Entry {
  /** Time of writing by the store's clock, in milliseconds since the epoch. */
  readonly writtenAt?: number | undefined
  /** True for a file with several hard links: a write by another of its names gives no hint at this one. Also in the result of `stat`. */
  readonly linked?: true | undefined
}

export interface EntryIterator extends AsyncIterableIterator<InnerEntry> {
  /** Returns an entry that is already in memory, without a promise. `undefined`: call `next()`. */
  nextNow?(): InnerEntry | undefined
}

export interface ListedOption extends SignalOption {
  /** True if a listing has shown the parent directories and, with `ifVersion`, the entry. The store may then skip its checks for links. */
  readonly listed?: boolean | undefined
}

export interface InnerListOptions extends ListOptions {
  /** With `recursive`: also give `writtenAt`, if this costs nothing. */
  readonly written?: boolean | undefined
  /** With `recursive`: returns true for a directory to skip. A store may call it several times for a directory, or never. */
  readonly skips?: ((directory: MountPath) => boolean) | undefined
  /** With `recursive`: called for an unreadable directory, which the listing skips. */
  readonly onUnreadable?: ((directory: MountPath, error: WorkspaceError) => void) | undefined
  /**
   * With `recursive`: called before the entries of a directory. If called several times, the last stamp is valid. An adapter may ignore it.
   * The stamp changes whenever an entry is made, removed or replaced. `undefined`: a change may go unnoticed.
   *
   * @returns the directories inside, to list in place of all entries; `undefined`: list all entries
   */
  readonly known?: ((directory: MountPath, stamp: string | undefined) => readonly string[] | undefined) | undefined
  /** With `known`: called for a directory with a hidden entry, which can become visible without a change of the directory. */
  readonly onHidden?: ((directory: MountPath) => void) | undefined
}
