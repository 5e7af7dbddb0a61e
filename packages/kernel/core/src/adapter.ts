// For authors of storage adapters and layers.
import './node-version.ts'

export { BodyFailure } from './adapter/base/body.ts'
export { chunksOf, collect } from './adapter/base/stream.ts'
export { orAbort } from './adapter/base/wait.ts'
export * from './contract/capabilities.ts'
export * from './contract/adapter.ts'
export type {
  AttachedCheckpoints,
  CheckpointEngine,
  CheckpointMount,
  Difference,
  EntryState,
  LeftOut,
  RestoreConflict,
  SavedCheckpoint,
  SaveOptions,
} from './contract/checkpoint-engine.ts'
export { defineAdapter } from './adapter/define-adapter.ts'
export type { DefineAdapterOptions } from './adapter/define-adapter.ts'
export type * from './contract/driver.ts'
export * from './adapter/failures.ts'
export { keyValueDriver } from './adapter/key-value/driver.ts'
export type { KeyValueOptions } from './adapter/key-value/driver.ts'
export type { KeyValueStore } from './adapter/key-value/store.ts'
export { LinkSignal } from './adapter/link-signal.ts'
export type { LinkArgument } from './adapter/link-signal.ts'
export * from './adapter/map-in-order.ts'
export { fileOperations, operations, optionalOperations } from './contract/operations.ts'
export type {
  AdapterOperation,
  FileOperation,
  Need,
  OperationCapability,
  OperationFacts,
} from './contract/operations.ts'
export { Pace } from './adapter/pace.ts'
export { Semaphore } from './adapter/semaphore.ts'
export { askingSignal, askingToo, eitherSignal, urgentSignals } from './adapter/signals.ts'
export { dateable, settable, tarTime } from './adapter/base/admission.ts'
export type {
  AppendOptions,
  BeginCommandOptions,
  ByteRange,
  Condition,
  CopyOptions,
  CreateDirectoryOptions,
  DeleteOptions,
  EndCommand,
  EntryNote,
  Entry,
  HostDirectory,
  ListOptions,
  MoveOptions,
  Owner,
  ReadOptions,
  ReadStreamOptions,
  ReadStreamResult,
  LinePart,
  SearchHit,
  RefreshOptions,
  SearchOptions,
  SearchQuery,
  SignalOption,
  StatOptions,
  Times,
  WriteData,
  WriteOptions,
} from './contract/file-types.ts'
export { rewriteError } from './errors.ts'
export { createGlobFilter } from './glob/filter.ts'
export type { GlobFilter } from './glob/filter.ts'
export type { AdapterAfterEvent, AdapterEvent } from './layers/observe.ts'
export { wrapAdapter } from './layers/wrap-adapter.ts'
export type { Call, Layer, LayerOptions } from './layers/wrap-adapter.ts'
export { assertMountPath, maxNameBytes, maxPathBytes, mountRoot, parseMountPath } from './path/virtual-path.ts'
export type { MountPath } from './path/virtual-path.ts'
