export { createMemoryAdapter } from './adapter.ts'
export type { MemoryAdapterOptions, MemoryEntry } from './options.ts'
