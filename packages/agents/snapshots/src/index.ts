export { createCheckpoints } from './create.ts'
export type { CheckpointsOptions } from './options.ts'
