// For authors of storage adapters and layers.
import './node-version.ts'

export { BodyFailure } from './adapter/base/body.ts'
export { chunksOf, collect } from './adapter/base/stream.ts'
export * as concurrency from './adapter/concurrency.ts'
export * as signals from './adapter/abort-signals.ts'
export * as fileTimes from './adapter/file-times.ts'
export type { AdapterCapabilities } from './contract/capabilities.ts'
export type { StorageAdapter } from './contract/adapter.ts'
export type * as AdapterOptions from './contract/adapter-options.ts'
export type * as Checkpoints from './contract/checkpoint-types.ts'
export { defineAdapter } from './adapter/define-adapter.ts'
export type { Driver, DriverCapabilities } from './contract/driver.ts'
export type * as DriverOptions from './contract/driver-options.ts'
export { checkReadSize, contractError } from './adapter/failures.ts'
export { keyValueDriver } from './adapter/key-value/driver.ts'
export { LinkSignal } from './adapter/link-signal.ts'
export { fileOperations, operations } from './contract/operations.ts'
export type { AdapterOperation, OperationFacts } from './contract/operations.ts'
export type {
  Condition,
  EntryNote,
  Entry,
  HostDirectory,
  Owner,
  ReadStreamResult,
  SearchHit,
  SignalOption,
  Times,
  WriteData,
} from './contract/file-types.ts'
export { rewriteError } from './errors.ts'
export { createGlobFilter } from './glob/filter.ts'
export type { GlobFilter } from './glob/filter.ts'
export type { AdapterEvent } from './layers/observe.ts'
export { wrapAdapter } from './layers/wrap-adapter.ts'
export type { Call, LayerOptions } from './layers/wrap-adapter.ts'
export type { MountPath } from './path/virtual-path.ts'
