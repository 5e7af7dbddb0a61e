// For callers. For authors: `@ws/core/adapter`, `@ws/core/executor` and `@ws/core/options`.
import './node-version.ts'

export { isDenial } from './calls/audit.ts'
export type { FileType, ReadResult, Stat, Times, TransferResult, Version, WriteResult } from './contract/file-types.ts'
export { errorCodes, isWorkspaceError, quotePath, WorkspaceError } from './errors.ts'
export type { ErrorCode, PartialProgress, WorkspaceErrorOptions } from './errors.ts'
export type {
  CommandInput,
  CommandOutput,
  CommandResult,
  FileViolation,
  NetworkViolation,
  OutputChunk,
  RuleHint,
  RuleViolation,
  RunningCommand,
} from './contract/executor.ts'
export type { CommandLimits } from './contract/limits.ts'
export type * from './contract/checkpoints.ts'
export type { CheckpointEngine } from './contract/checkpoint-engine.ts'
export { compileGlob } from './glob/glob.ts'
export type { Glob, GlobOptions } from './glob/glob.ts'
export { observe } from './layers/observe.ts'
export { prefix } from './layers/prefix.ts'
export { readOnly } from './layers/read-only.ts'
export {
  baseName,
  childPath,
  isWithin,
  joinPath,
  parentPath,
  parsePath,
  parseVirtualPath,
  relativeTo,
  rootPath,
  segmentsOf,
} from './path/virtual-path.ts'
export type { ParsedPath, VirtualPath } from './path/virtual-path.ts'
export { configurePathManager, getPathManager } from './policy/path-manager-default.ts'
export { resolvePathManagerOptions } from './policy/path-manager-options.ts'
export type { PathManagerOptions } from './policy/path-manager-options.ts'
export { createPathManager } from './policy/path-manager.ts'
export type { PathManager, ResolveWriteOptions } from './policy/path-manager.ts'
export { createPolicy } from './policy/policy.ts'
export type { PolicyOptions } from './policy/policy.ts'
export { rules } from './policy/rules.ts'
export type { Access, AccessRequest, Decision, Policy, Rule } from './contract/policy.ts'
export { createWorkspace } from './workspace/create-workspace.ts'
export * from './contract/file-door.ts'
export * from './contract/sessions.ts'
export * from './contract/workspace.ts'
