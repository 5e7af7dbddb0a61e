export { createMemoryAdapter } from './adapter.ts'
export type { MemoryAdapterOptions } from './options.ts'
