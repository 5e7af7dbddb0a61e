export { type ConfinedExecutorDefinition, defineConfinedExecutor, unavailable } from './confined.ts'
export { environmentNamesShape, limitOptionShapes, toolsShape } from './option-shapes.ts'
export { closedError, HeldWork } from './held-work.ts'
export type { ConfinedProbe, ConfinedTarget } from './types.ts'
