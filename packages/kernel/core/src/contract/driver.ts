import type { HostPath, MountPath } from '../path/virtual-path.ts'
import type { AdapterCapabilities } from './capabilities.ts'
import type { StorageAdapter } from './adapter.ts'
import type { OperationCapability } from './operations.ts'
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
  ReadStreamResult,
  RefreshOptions,
  SearchHit,
  SearchOptions,
  SearchQuery,
  SignalOption,
  Stat,
  Times,
  TransferResult,
  WriteData,
  WriteOptions,
  WriteResult,
} from './file-types.ts'

/** Options with their defaults filled in. */
type Filled<Options extends SignalOption, Defaulted extends keyof Options> = SignalOption & {
  readonly [Name in Exclude<keyof Options, 'signal'>]-?: Name extends Defaulted
    ? NonNullable<Options[Name]>
    : Options[Name]
}

/** Options of a read. A range has whole numbers from 0. For `maxBytes` see `checkReadSize`. */
export interface DriverReadOptions extends ReadOptions {}
export interface DriverWriteOptions extends Filled<WriteOptions, 'parents' | 'durable'> {}
export interface DriverAppendOptions extends Filled<AppendOptions, 'parents'> {}
export interface DriverListOptions extends Filled<ListOptions, 'recursive' | 'exclude' | 'details'> {}
export interface DriverDeleteOptions extends Filled<DeleteOptions, 'recursive' | 'force'> {}
export interface DriverMoveOptions extends Filled<MoveOptions, 'overwrite' | 'parents'> {}
export interface DriverCopyOptions extends Filled<CopyOptions, 'overwrite' | 'parents' | 'recursive'> {}

export interface DriverSearchQuery extends SearchQuery {
  readonly regex: boolean
  readonly caseSensitive: boolean
  readonly exclude: readonly MountPath[]
  readonly maxHits: number
  readonly maxFileBytes: number
}

/** A driver's capabilities. Capabilities of optional operations follow from its methods; a stated capability must agree. */
export type DriverCapabilities = Omit<AdapterCapabilities, OperationCapability> & {
  readonly [Name in OperationCapability]?: boolean | undefined
}

/**
 * A store, for `defineAdapter`, with the semantics of {@link StorageAdapter}.
 *
 * The base has checked before a method is called: the adapter is open, paths fit `maxPathBytes`, options have defaults, content and ranges
 * are well-formed, and the store may be changed. Conditions come only if the capabilities allow them. The root is not changed.
 *
 * A signal is not aborted yet. Reads may ignore it; changes end by it and leave the old state, and so does a stream to be written.
 * Omit a method that the store cannot support.
 */
export interface Driver {
  readonly name: string
  readonly capabilities: DriverCapabilities

  /** Throws for paths that the base would accept. `creates`: the operation may create an entry there. */
  checkPath?(path: MountPath, operation: string, creates: boolean): void

  stat(path: MountPath, options: SignalOption): Promise<Stat>
  read(path: MountPath, options: DriverReadOptions): Promise<ReadResult>
  /** Default: the bytes of `read`, in chunks. */
  readStream?(path: MountPath, options: DriverReadOptions): Promise<ReadStreamResult>
  write(path: MountPath, data: WriteData, options: DriverWriteOptions): Promise<WriteResult>
  append?(path: MountPath, data: Uint8Array, options: DriverAppendOptions): Promise<WriteResult>
  list(path: MountPath, options: DriverListOptions): AsyncIterableIterator<Entry>
  search?(query: DriverSearchQuery, options: SearchOptions): AsyncIterableIterator<SearchHit>
  createDirectory(path: MountPath, options: CreateDirectoryOptions & { readonly recursive: boolean }): Promise<void>
  delete(path: MountPath, options: DriverDeleteOptions): Promise<void>
  move(source: MountPath, destination: MountPath, options: DriverMoveOptions): Promise<TransferResult>
  copy(source: MountPath, destination: MountPath, options: DriverCopyOptions): Promise<TransferResult>
  createSymlink?(path: MountPath, target: string, options: SignalOption): Promise<WriteResult | void>
  readSymlink?(path: MountPath, options: SignalOption): Promise<string>
  chmod?(path: MountPath, mode: number, options: SignalOption): Promise<void>
  utimes?(path: MountPath, times: Times, options: SignalOption): Promise<void>
  flush?(options: SignalOption): Promise<void>
  sync?(options: SignalOption): Promise<void>
  refresh?(options: RefreshOptions): Promise<void>
  hostPath?(path: MountPath): HostPath
  hostDirectory?(path: MountPath): Promise<HostDirectory>
  beginCommand?(options: BeginCommandOptions): Promise<EndCommand>
  createScratch?(options: SignalOption): Promise<StorageAdapter>
  close?(): Promise<void>
}
