export { createReplicaAdapter } from './create.ts'
export type * from './contract.ts'
export type { ReplicaAdapterOptions } from './options.ts'
