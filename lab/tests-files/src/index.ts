export { openMemory, paths } from './memory-workspace.ts'
