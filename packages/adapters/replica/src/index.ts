export { createReplicaAdapter } from './create.ts'
export type { ReplicaAdapter, ReplicaEvent, ReplicaStatus, ReplicaVerification } from './contract.ts'
export type { ReplicaAdapterOptions } from './options.ts'
