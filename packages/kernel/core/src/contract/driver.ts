import type { HostPath, MountPath } from '../path/virtual-path.ts'
import type { AdapterCapabilities } from './capabilities.ts'
import type { StorageAdapter } from './adapter.ts'
import type { ChangeHints, HintOptions } from './watching.ts'
import type { OperationCapability } from './operations.ts'
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

/** Options after the base has filled in the defaults. */
type Filled<Options extends SignalOption, Defaulted extends keyof Options> = SignalOption & {
  readonly [Name in Exclude<keyof Options, 'signal'>]-?: Name extends Defaulted
    ? NonNullable<Options[Name]>
    : Options[Name]
}

/** Options of a read. A range consists of integers from 0. For `maxBytes` see `checkReadSize`. */
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

/** A driver's capabilities. Capabilities of optional operations follow from the driver's methods; a stated value must agree with them. */
export type DriverCapabilities = Omit<AdapterCapabilities, OperationCapability> & {
  readonly [Name in OperationCapability]?: boolean | undefined
}

/**
 * A store, to be passed to `defineAdapter`. Its methods have the semantics of {@link StorageAdapter}.
 *
 * Before each call, the base checks that the adapter is open, paths fit `maxPathBytes`, content and ranges are well-formed, and changes
 * are allowed. The base fills in defaults of options, passes only conditions that the capabilities allow, and refuses changes of the root.
 *
 * A method never gets an aborted signal. Reads may ignore a signal. An abort ends a change and its body stream; the old state remains.
 * Omit a method that the store cannot support.
 */
export interface Driver {
  readonly name: string
  readonly capabilities: DriverCapabilities

  /** Throws for paths that the base accepts but the driver does not. `creates`: the operation may create an entry at the path. */
  checkPath?(path: MountPath, operation: string, creates: boolean): void

  stat(path: MountPath, options: SignalOption): Promise<Stat>
  read(path: MountPath, options: DriverReadOptions): Promise<ReadResult>
  /** Default: streams the bytes of `read` in chunks. */
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
  watch?(path: MountPath, options: HintOptions): Promise<ChangeHints>
  hostPath?(path: MountPath): HostPath
  hostDirectory?(path: MountPath): Promise<HostDirectory>
  beginCommand?(options: BeginCommandOptions): Promise<EndCommand>
  createScratch?(options: SignalOption): Promise<StorageAdapter>
  createFork?(options: ForkOptions): Promise<StorageAdapter>
  close?(): Promise<void>
}
