/** Landlock rules, and a probe that tests whether this kernel enforces them. */
export * as Landlock from './confine/landlock/index.ts'
export { confineArgv, type ConfinedCommand } from './confine/loader/confine.ts'
export { sandboxProgram } from './confine/seccomp/programs.ts'
export * from './executor/index.ts'
export * as Limits from './limits/index.ts'
/** Reserves protected names that do not exist yet, so that commands cannot create them. */
export * as Reserve from './reserve/index.ts'
export * as Descriptors from './run/door/descriptors.ts'
/** Inspects and signals processes of this machine, and starts helper processes. */
export * as Processes from './run/door/processes.ts'
export * as Temporary from './run/door/temporary.ts'
export { publishPort } from './publish/publish.ts'
export { findProgram, type FoundProgram } from './run/find-program.ts'
export { startProcess } from './run/start.ts'
export type { DescriptorSource, ProcessResult, RunningProcess } from './run/types.ts'
export type { TerminalDevice } from './terminal/start.ts'
export { cleanEnvironment } from './view/environment.ts'
export { viewEnvironment } from './view/environment.ts'
/** Host paths: mounts, links in paths, and bind sources held open by descriptors. */
export * as HostPaths from './view/host-paths.ts'
export { isSystemProgram, systemTree, type SystemEntry } from './view/system-tree.ts'
export * as Tools from './view/tools.ts'
export { watchTree } from './watch/tree-watch.ts'
