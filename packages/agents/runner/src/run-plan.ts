// Runs nothing at import, so that engines such as Temporal bundle it for workflows that they repeat.
export type { CheckedPlan } from './plan/checked.ts'
export { runPlan } from './run/run-plan.ts'
export type { RunEvent, RunResult, StepOutcome, StepRequest } from './run/types.ts'
