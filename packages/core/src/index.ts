export * from './adapter/capabilities.ts'
export * from './adapter/contract.ts'
export { defineAdapter } from './adapter/define-adapter.ts'
export type { DefineAdapterOptions } from './adapter/define-adapter.ts'
export { chunksOf, collect } from './adapter/base/stream.ts'
export type * from './adapter/driver.ts'
export * from './adapter/failures.ts'
export { keyValueDriver } from './adapter/key-value/driver.ts'
export type { KeyValueOptions } from './adapter/key-value/driver.ts'
export type { KeyValueStore } from './adapter/key-value/store.ts'
export * from './adapter/link-signal.ts'
export * from './adapter/map-in-order.ts'
export { Pace } from './adapter/pace.ts'
export { fileOperations, operations } from './adapter/operations.ts'
export type { AdapterOperation, FileOperation, Need, OperationFacts } from './adapter/operations.ts'
export * from './adapter/types.ts'
export * from './errors.ts'
export * from './executor/bind-plan.ts'
export * from './executor/contract.ts'
export * from './executor/guarantees.ts'
export * from './executor/limits.ts'
export { createGlobFilter } from './glob/filter.ts'
export type { GlobFilter } from './glob/filter.ts'
export { compileGlob } from './glob/glob.ts'
export type { Glob, GlobOptions } from './glob/glob.ts'
export { getCommandResult, protectionLost, sandboxKilled } from './executor/killed.ts'
export { checkOption, checkOptions } from './options/check.ts'
export { adapterShape, durationShape, hasMethods, option } from './options/shapes.ts'
export type { OptionShape, OptionShapes } from './options/shapes.ts'
export * from './path/virtual-path.ts'
export * from './policy/types.ts'
export { escapeUnprintable } from './text/printable.ts'
export * from './text/utf8.ts'
export * from './workspace/file-door.ts'
export * from './workspace/types.ts'
export * from './workspace/sessions/types.ts'
export type { OutputText } from './workspace/sessions/output-log.ts'
export { scratchName, systemNames } from './mount/reserved.ts'
export { configurePathManager, getPathManager } from './policy/path-manager-default.ts'
export { pathTemplateNames, resolvePathManagerOptions } from './policy/path-manager-options.ts'
export type {
  PathException,
  PathManagerOptions,
  PathManagerSettings,
  PathManagerSources,
  PathTemplateName,
  PathTemplates,
} from './policy/path-manager-options.ts'
export { createPathManager } from './policy/path-manager.ts'
export type { PathManager, ResolveWriteOptions } from './policy/path-manager.ts'
export { createPolicy } from './policy/policy.ts'
export type { PolicyOptions } from './policy/policy.ts'
export { rules } from './policy/rules.ts'
export type {
  DenyCommandOptions,
  ExceptionOptions,
  NameOption,
  OutputOptions,
  PredicateOptions,
} from './policy/rules.ts'
export { maxCommandBytes, normaliseCommand, quoteForShell } from './workspace/command.ts'
export type { NormalisedCommand } from './workspace/command.ts'
export { createWorkspace } from './workspace/create-workspace.ts'
export { observe } from './layers/observe.ts'
export type { AdapterAfterEvent, AdapterBeforeEvent, AdapterEvent } from './layers/observe.ts'
export { prefix } from './layers/prefix.ts'
export { readOnly } from './layers/read-only.ts'
export type { LayerOptions } from './layers/wrap-adapter.ts'
