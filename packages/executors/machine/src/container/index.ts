export { createContainerExecutor } from './executor.ts'
export type { ContainerExecutorOptions } from './options.ts'
