export { createBackend, createSandboxBackend } from './backend.ts'
