export { createSandboxExecutor } from './executor/executor.ts'
export { createSandboxSession } from './sandbox/session.ts'
export { createAiTools } from './tools.ts'
export type { AiTools } from './tools.ts'
