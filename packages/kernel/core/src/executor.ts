// For authors of executors and command parsers.
export { lowestNode } from './node-version.ts'
export { unsupportedRuntime } from './host-runtime.ts'
export { type NormalisedCommand, normaliseCommand, quoteForShell } from './commands/command.ts'
export { getNativeCause } from './errors.ts'
export * from './contract/bind-plan.ts'
export { BothStreams } from './executor/both-streams.ts'
export type {
  AttachedExecutor,
  CommandRequest,
  ConnectionReport,
  ConnectionVerdict,
  Executor,
  ExecutorResult,
  KillSignal,
  ProbeDetails,
  ProbeReport,
  ProbeTarget,
  RootForm,
  StandardInput,
  StartedCommand,
  Terminal,
  TerminalRequest,
  TerminalResult,
  WorkspaceView,
} from './contract/executor.ts'
export { execError } from './executor/exec-error.ts'
export * from './contract/guarantees.ts'
export { getCommandResult, listingLost, protectionLost, sandboxKilled } from './executor/killed.ts'
export { limitFields } from './contract/limits.ts'
export type { LimitField, LimitReport } from './contract/limits.ts'
export { limitShapes, narrowLimits, requireLimits } from './executor/limits.ts'
export { systemNames } from './mount/reserved.ts'
export type { HostPath } from './path/virtual-path.ts'
export { HostList, isName, normalName, parseHost, readHosts, unlistedHost, type HostEntry } from './policy/host-list.ts'
export type { DenyCommandOptions } from './policy/rules.ts'
export type {
  CommandParser,
  CommandParserOptions,
  CommandRule,
  HostsRule,
  PatternRule,
  SimpleCommand,
  SubtreeRule,
} from './contract/policy.ts'
export { shortageIn, shortageNamed, shortageOf, shortError, type Shortage } from './shortage.ts'
export { escapeUnprintable, showName } from './text/printable.ts'
export * from './text/utf8.ts'
export { rehearsing } from './workspace/workspace.ts'
