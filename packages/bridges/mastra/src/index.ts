export { createMastraFilesystem } from './filesystem/filesystem.ts'
export type { MastraFilesystemOptions } from './filesystem/filesystem.ts'
export { createMastraSandbox } from './sandbox/sandbox.ts'
export type { MastraSandboxOptions } from './sandbox/sandbox.ts'
