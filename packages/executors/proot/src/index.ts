export { createProotExecutor } from './executor.ts'
export type { ProotExecutorOptions } from './options.ts'
