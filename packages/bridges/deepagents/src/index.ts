export { createBackend, createSandboxBackend } from './backend.ts'
export type { SandboxBackendOptions } from './backend.ts'
