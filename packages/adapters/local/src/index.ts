export { createLocalAdapter, createScratchAdapter } from './create.ts'
export type { LocalAdapterOptions } from './options.ts'
export { realpath } from './root/realpath.ts'
export { givenUpScratch } from './root/scratch-places.ts'
