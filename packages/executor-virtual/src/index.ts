export { createVirtualExecutor } from './executor.ts'
export type { VirtualExecutorOptions, VirtualLimits } from './options.ts'
