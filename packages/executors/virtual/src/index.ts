export { createVirtualExecutor } from './executor.ts'
export type { VirtualNetwork, VirtualExecutorOptions, VirtualLimits } from './options.ts'
