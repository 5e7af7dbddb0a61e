export { createQueueStep } from './queue-step.ts'
export type { QueueStep } from './queue-step.ts'
export { createStepWorker } from './worker.ts'
export type { StepWorker } from './worker.ts'
