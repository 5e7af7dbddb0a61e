export { type ConfinedExecutorDefinition, defineConfinedExecutor, unavailable } from './confined.ts'
export { closedError, HeldWork } from './held-work.ts'
export type { ConfinedProbe, ConfinedTarget } from './types.ts'
