export { createSandboxRuntimeExecutor } from './executor.ts'
export type { SandboxRuntimeExecutorOptions } from './options.ts'
