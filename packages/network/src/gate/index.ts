export { gateNetwork, nameServer } from './address-book.ts'
export { Gate } from './gate.ts'
export { refusals } from './refusals.ts'
export type { GateLimits, GateOptions, WantedSocket } from './types.ts'
