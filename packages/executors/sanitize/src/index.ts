export { createSanitizeExecutor } from './executor.ts'
export type { SanitizeExecutorOptions } from './options.ts'
