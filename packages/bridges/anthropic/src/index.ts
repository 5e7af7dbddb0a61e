export { createMemoryHandlers } from './memory.ts'
export { createRunnableTools } from './runnable-tools.ts'
export type { RunnableTools } from './runnable-tools.ts'
