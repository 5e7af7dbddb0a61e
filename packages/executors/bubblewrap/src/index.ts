export { createBubblewrapExecutor } from './executor.ts'
export type { BubblewrapExecutorOptions } from './options.ts'
