export { createMastraFilesystem } from './filesystem/filesystem.ts'
export { createMastraSandbox } from './sandbox/sandbox.ts'
