export { openMemory } from './memory-workspace.ts'
