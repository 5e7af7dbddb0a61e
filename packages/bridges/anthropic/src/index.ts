export { createMemoryHandlers } from './memory.ts'
export { createRunnableTools } from './runnable-tools.ts'
export type { RunnableTools, RunnableToolsOptions } from './runnable-tools.ts'
