export { cleanEnvironment, defaultAllowList, defaultPath } from './environment/clean.ts'
export type { CleanEnvironmentOptions } from './environment/clean.ts'
export * from './executor/index.ts'
export { hidingCommand, hidingProblem, type HiddenNames } from './hide/hide.ts'
export { probeLandlock } from './landlock/probe.ts'
export type { LandlockAccess, LandlockPolicy, LandlockProbe, LandlockRule } from './landlock/types.ts'
export { confineArgv } from './loader/confine.ts'
export type { ConfinedCommand, ConfineOptions } from './loader/confine.ts'
export {
  attachCgroup,
  type DelegatedCgroup,
  type DelegatedCgroupOptions,
  openCgroup,
} from './limits/cgroup/delegated.ts'
export { cgroupRemedy, type CommandGroup } from './limits/cgroup/group.ts'
export { type CgroupKernel } from './limits/cgroup/kernel.ts'
export { limitedCommand } from './limits/command.ts'
export {
  type LimitOptions,
  narrowedLimits,
  type ResolvedLimits,
  resolveLimits,
  resourceLimits,
} from './limits/options.ts'
export { type LimitReportOptions, resourceLimitReport } from './limits/report.ts'
export type { ProcessLimits } from './loader/limits.ts'
export { findProgram, systemDirectories } from './probe/find.ts'
export type { FindProgramOptions, FoundProgram } from './probe/find.ts'
export * from './reserve/index.ts'
export { checkRuntime } from './runtime/check.ts'
export type { CheckedRuntime, CheckRuntimeOptions } from './runtime/check.ts'
export { type KeptContent, KeptContents, openPrivateFile } from './run/descriptors.ts'
export { captureOutput } from './run/capture.ts'
export type { OutputCapture } from './run/capture.ts'
export { capturePipe } from './run/captured-pipe.ts'
export type { CapturePipeOptions } from './run/captured-pipe.ts'
export { usePipes, withPipes, type PipeMaker, type PipePair } from './run/pipe-maker.ts'
export { Shared } from './run/shared.ts'
export { createTemporaryDirectory, temporaryRemedy } from './run/temporary-directory.ts'
export { startProcess } from './run/start.ts'
export type {
  CapturedOutput,
  DescriptorSource,
  ExtraDescriptors,
  LoaderStatus,
  OutputListener,
  ProcessInput,
  ProcessResult,
  RunningProcess,
  StartProcessOptions,
} from './run/types.ts'
export { sandboxProgram } from './seccomp/programs.ts'
export type { SandboxProgramOptions, SeccompArchitecture } from './seccomp/types.ts'
export {
  interactiveShellArguments,
  longestArgument,
  longestCommand,
  shellArguments,
  shellInvocation,
} from './shell/arguments.ts'
export { resolveShell } from './shell/resolve.ts'
export type { ResolveShellOptions, ShellArgumentsOptions, ShellInvocation } from './shell/types.ts'
export * from './terminal/index.ts'
export { sendSignal } from './tree/end.ts'
export { listProcesses, type ProcessStat, readProcessStat } from './tree/stat.ts'
export * from './view/index.ts'
