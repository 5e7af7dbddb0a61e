export {
  type ConfinedExecutorOptions,
  type ConfinedProbe,
  type ConfinedTarget,
  createConfinedExecutor,
} from './confined.ts'
export { closedError, HeldWork } from './held-work.ts'
