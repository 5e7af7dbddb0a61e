export { createVirtualExecutor } from './executor.ts'
export { createBashFileSystem } from './files/create.ts'
export type { WorkspaceFilesOptions } from './files/workspace.ts'
export type { VirtualExecutorOptions, VirtualLimits } from './options.ts'
