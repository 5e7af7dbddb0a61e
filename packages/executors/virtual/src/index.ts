export { createVirtualExecutor } from './executor.ts'
export type { VirtualExecutorOptions } from './options.ts'
