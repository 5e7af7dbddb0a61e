import type { Tools } from '@ws/sandbox'

export { createProotExecutor } from './executor.ts'
export type { ProotExecutorOptions } from './options.ts'

/** A directory of this machine that commands see, read-only: a version manager's, say. */
export type Tool = Tools.Tool
