export { createFileSystem } from './file-system.ts'
export type { FileSystemOptions } from './file-system.ts'
export { createSandbox } from './sandbox.ts'
export type { SandboxOptions } from './sandbox.ts'
