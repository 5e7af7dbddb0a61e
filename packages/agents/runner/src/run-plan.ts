// Imports nothing that runs, so that engines can bundle it for code that they repeat: a workflow of Temporal, for one.
export type { CheckedPlan } from './plan/checked.ts'
export { runPlan } from './run/run-plan.ts'
export type { RunEvent, RunResult, StepOutcome, StepRequest } from './run/types.ts'
