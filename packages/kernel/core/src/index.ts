// For callers. For authors: `@ws/core/adapter`, `@ws/core/executor` and `@ws/core/options`.
import './node-version.ts'

export { isDenial } from './calls/audit.ts'
export type { FileType, ReadResult, Stat, TransferResult, Version, WriteResult } from './contract/file-types.ts'
export { errorCodes, isWorkspaceError, quotePath, WorkspaceError } from './errors.ts'
export type { ErrorCode, PartialProgress } from './errors.ts'
export type {
  CommandOutput,
  CommandResult,
  OutputChunk,
  RuleHint,
  RuleViolation,
  RunningCommand,
  ShellState,
} from './contract/executor.ts'
export type { CommandLimits } from './contract/limits.ts'
export type { Change, Checkpoint, RestoreResult } from './contract/checkpoints.ts'
export type { CheckpointEngine } from './contract/checkpoint-engine.ts'
export { compileGlob } from './glob/glob.ts'
export type { Glob } from './glob/glob.ts'
export { observe } from './layers/observe.ts'
export { prefix } from './layers/prefix.ts'
export { readOnly } from './layers/read-only.ts'
export * as paths from './path/paths.ts'
export type { ParsedPath, VirtualPath } from './path/virtual-path.ts'
export { configurePathManager, getPathManager } from './policy/path-manager-default.ts'
export { resolvePathManagerOptions } from './policy/path-manager-options.ts'
export type { PathManagerOptions } from './policy/path-manager-options.ts'
export { createPathManager } from './policy/path-manager.ts'
export type { PathManager } from './policy/path-manager.ts'
export { createPolicy } from './policy/policy.ts'
export { rules } from './policy/rules.ts'
export type { Policy, Rule } from './contract/policy.ts'
export { createWorkspace } from './workspace/create-workspace.ts'
export type { EditResult, FileDoor, ReadLinesResult, WorkspaceEntry, WorkspaceSearchHit } from './contract/file-door.ts'
export type { MergeResult } from './contract/forks.ts'
export type { PublishedPort } from './contract/publishing.ts'
export type { BackgroundCommand, OutputText, Session, SessionExit } from './contract/sessions.ts'
export type { Try, TryOptions } from './contract/tries.ts'
export type { WatchEvent } from './contract/watching.ts'
export type {
  AccessEvent,
  Command,
  CommandDefaults,
  Connections,
  ExplainRequest,
  Explanation,
  MountInfo,
  MountOptions,
  Workspace,
  WorkspaceOptions,
} from './contract/workspace.ts'
