import type { Tools } from '@ws/sandbox'

export { createBubblewrapExecutor } from './executor.ts'
export type { BubblewrapExecutorOptions } from './options.ts'
export type { NetworkOptions } from './network/options.ts'

/** A directory of this machine that commands see, read-only: a version manager's, say. */
export type Tool = Tools.Tool
