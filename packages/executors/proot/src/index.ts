import type { Tools } from '@ws/sandbox'

export { createProotExecutor } from './executor.ts'
export type { ProotExecutorOptions } from './options.ts'
export type Tool = Tools.Tool
