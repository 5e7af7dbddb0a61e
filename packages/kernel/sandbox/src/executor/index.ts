export { defineExecutor, unavailable } from './define-executor.ts'
export type {
  CommandDriver,
  CommandEnd,
  CommandPort,
  CommandRun,
  ConfinedTarget,
  ExecutorDriver,
  KnownEnd,
  PreparedCommand,
  Probed,
  TryOut,
} from './driver.ts'
export { type LocalCommand, startLocal } from './start-local.ts'
export { howToInstall } from '../run/system.ts'
export * as ExecutorOptions from './options.ts'
export { type CommandLine, commandLine, resolveShell } from './command-line.ts'
