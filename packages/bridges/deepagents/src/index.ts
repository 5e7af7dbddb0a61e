export { createApprovedBackend } from './approval.ts'
export { createBackend, createSandboxBackend } from './backend.ts'
