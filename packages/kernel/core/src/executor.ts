// For authors of executors and command parsers.
export { lowestNode } from './node-version.ts'
export { unsupportedRuntime } from './host-runtime.ts'
export { quoteForShell } from './commands/command.ts'
export { getNativeCause } from './errors.ts'
export type { Bind, BindPlan, RestrictionProblem } from './contract/bind-plan.ts'
export { BothStreams } from './executor/both-streams.ts'
export type {
  AttachedExecutor,
  CommandRequest,
  ConnectionReport,
  ConnectionVerdict,
  Executor,
  ExecutorResult,
  KillSignal,
  ProbeReport,
  PublishedHost,
  RootForm,
  SharedLoopback,
  StartedCommand,
  Terminal,
  TerminalRequest,
  TerminalResult,
  WorkspaceView,
} from './contract/executor.ts'
export { execError } from './executor/exec-error.ts'
export { guaranteeFields, isPreset, noGuarantees, satisfies, unmetFields } from './contract/guarantees.ts'
export type { GuaranteeLevel, Guarantees, Requirement } from './contract/guarantees.ts'
export { getCommandResult, listingLost, protectionLost, sandboxKilled } from './executor/killed.ts'
export * as commandLimits from './executor/command-limits.ts'
export type { LimitReport } from './contract/limits.ts'
export { systemNames } from './mount/reserved.ts'
export type { HostPath } from './path/virtual-path.ts'
export * as hostLists from './policy/host-lists.ts'
export type { Asked, CommandRule, HostsRule, PatternRule, SimpleCommand, SubtreeRule } from './contract/policy.ts'
export * as shortages from './shortages.ts'
export { escapeUnprintable, showName } from './text/printable.ts'
export * as utf8 from './text/utf8.ts'
export { askedIn, granting, rehearsing } from './workspace/workspace.ts'
