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

/** An adapter with the additional options of the core and this project's stores. They only save work. */
export interface InnerAdapter extends StorageAdapter {
  /** True if only the caller may change the store. Default false. */
  readonly isSole?: boolean | undefined
  /** A place for objects of the store's only writer. It is deleted with the store. */
  readonly beside?: StorageAdapter | undefined
  /** A watch over the tree; `undefined`: changes are not reported here. */
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

/** Reports which watched directories of a tree have changed, by any program. */
export interface TreeWatch {
  /** Whether later changes of a directory will be reported. */
  has(directory: MountPath): boolean
  /** Watches directories, each after those above it. Never rejects. While a call runs, further calls do nothing. */
  add(directories: readonly MountPath[]): Promise<void>
  /**
   * Changes after a position, up to now. Without a position: no changes, only the present position.
   *
   * @returns `undefined` if changes may be unknown: directories must be read again
   */
  since(position: number | undefined): Promise<
    | {
        readonly position: number
        /** Directories whose entries, mode or owner changed. */
        readonly changed: ReadonlySet<MountPath>
        /** Paths that may now have another directory. Nothing below them is known. */
        readonly replaced: ReadonlySet<MountPath>
      }
    | undefined
  >
}

export interface InnerEntry extends Entry {
  /** When the object was written, by the store's clock, in milliseconds since the epoch. */
  readonly writtenAt?: number | undefined
}

export interface EntryIterator extends AsyncIterableIterator<InnerEntry> {
  /** Returns an entry that is already in memory, without a promise. `undefined`: call `next()`. */
  nextNow?(): InnerEntry | undefined
}

export interface ListedOption extends SignalOption {
  /** True if a listing showed the directories above and, with `ifVersion`, the path. The store need not look for links then. */
  readonly listed?: boolean | undefined
}

export interface InnerListOptions extends ListOptions {
  /** With `recursive`: gives `writtenAt`, if free. */
  readonly written?: boolean | undefined
  /** With `recursive`: true for a directory to skip. May be called several times for a directory, or never. */
  readonly skips?: ((directory: MountPath) => boolean) | undefined
  /** With `recursive`: called for an unreadable directory, which is then left out. */
  readonly onUnreadable?: ((directory: MountPath, error: WorkspaceError) => void) | undefined
  /**
   * With `recursive`: called before the entries of a directory, perhaps several times; the last stamp counts. An adapter may ignore it.
   * The stamp changes whenever an entry was made, removed or replaced; `undefined`: a change may leave no trace.
   *
   * @returns the directories inside, which are listed in place of all entries; `undefined`: all entries are listed
   */
  readonly known?: ((directory: MountPath, stamp: string | undefined) => readonly string[] | undefined) | undefined
  /** With `known`: called for a directory with a hidden entry, which may show later without a change of the directory. */
  readonly onHidden?: ((directory: MountPath) => void) | undefined
}
