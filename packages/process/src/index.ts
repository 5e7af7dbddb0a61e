export { cleanEnvironment, defaultAllowList, defaultPath } from './environment/clean.ts'
export * from './executor/index.ts'
export {
  doubtOwnMounts,
  isSlowType,
  type MountEntry,
  mountOf,
  ownMounts,
  parseMountTable,
  readMountInfo,
} from './mounts/mount-table.ts'
export { findProgram } from './probe/find.ts'
export { collect, type Collected } from './run/collected.ts'
export { KeptContents, openPrivateFile } from './run/descriptors.ts'
export { createCommandOutput } from './run/command-output.ts'
export { takePipes, usePipes, withPipes, type PipeMaker, type PipePair } from './run/pipe-maker.ts'
export { isShort, requireDescriptors, withSpareDescriptor } from './room.ts'
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
export { commandLine, longestCommand } from './shell/arguments.ts'
export { resolveShell } from './shell/resolve.ts'
export * from './terminal/index.ts'
export { sendSignal } from './tree/end.ts'
export { listProcesses, type ProcessStat, readProcessStat } from './tree/stat.ts'
