import type { Tools } from '@ws/sandbox'

export { createBubblewrapExecutor } from './executor.ts'
export type { BubblewrapExecutorOptions } from './options.ts'
export type { NetworkOptions } from './network/options.ts'
export type Tool = Tools.Tool
