export { createProotExecutor } from './executor.ts'
export type { ProotExecutorOptions, ProotTool } from './options.ts'
