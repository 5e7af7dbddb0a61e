export { defineExecutor, unavailable } from './define-executor.ts'
export type {
  CommandDriver,
  CommandEnd,
  CommandPort,
  CommandRun,
  ConfinedTarget,
  ExecutorDriver,
  KnownEnd,
  PreparedCommand,
  Probed,
  TryOut,
} from './driver.ts'
export { type LocalCommand, startLocal } from './start-local.ts'
export { environmentNamesShape, limitOptionShapes, toolsShape } from './option-shapes.ts'
export { refuseNetworkList } from './no-network-list.ts'
