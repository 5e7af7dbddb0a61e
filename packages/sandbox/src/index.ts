export { cleanEnvironment, defaultAllowList, defaultPath } from './view/clean-environment.ts'
export {
  doubtOwnMounts,
  isSlowType,
  type MountEntry,
  mountOf,
  ownMounts,
  parseMountTable,
  readMountInfo,
} from './view/mount-table.ts'
export { findProgram } from './run/find-program.ts'
export { collect, type Collected } from './run/collected.ts'
export { openContent, openPrivateFile } from './run/descriptors.ts'
export { createCommandOutput } from './run/command-output.ts'
export { takePipes, usePipes, withPipes, type PipeMaker, type PipePair } from './run/pipe-maker.ts'
export { isShort, requireDescriptors, withSpareDescriptor } from './run/room.ts'
export { readFurtherOutput, readPipe, takeRest } from './run/further-output.ts'
export { openStdio } from './run/stdio.ts'
export { Shared } from './run/shared.ts'
export { spawnChild } from './run/spawn.ts'
export { createTemporaryDirectory, temporaryRemedy } from './run/temporary-directory.ts'
export { removeTree } from './run/remove-tree.ts'
export { startProcess } from './run/start.ts'
export type {
  DescriptorSource,
  ExtraDescriptors,
  LoaderStatus,
  ProcessResult,
  RunningProcess,
  StartProcessOptions,
} from './run/types.ts'
export { validateDescriptors, validateEnvironment } from './run/validate.ts'
export { commandLine, longestCommand } from './executor/shell/arguments.ts'
export { resolveShell } from './executor/shell/resolve.ts'
export * from './terminal/index.ts'
export { sendSignal } from './run/tree/end.ts'
export { listProcesses, type ProcessStat, readProcessStat } from './run/tree/stat.ts'
export * from './executor/index.ts'
export { sharedDevices, sharedProcFiles } from './confine/landlock/shared-files.ts'
export { checkReadOnlyMounts, type HeldBind } from './confine/landlock/read-only.ts'
export { probeLandlock } from './confine/landlock/probe.ts'
export type { LandlockRule } from './confine/landlock/types.ts'
export { attachCgroup, type DelegatedCgroup, openCgroup } from './limits/cgroup/delegated.ts'
export type { CommandGroup } from './limits/cgroup/group.ts'
export {
  limitedCommand,
  type LimitOptions,
  narrowedLimits,
  type ResolvedLimits,
  resolveLimits,
} from './limits/options.ts'
export { resourceLimitReport } from './limits/report.ts'
export { confineArgv } from './confine/loader/confine.ts'
export type { ProcessLimits } from './confine/loader/limits.ts'
export * from './reserve/index.ts'
export { sandboxProgram } from './confine/seccomp/programs.ts'
export * from './view/index.ts'
