// This module runs nothing at import, so that engines such as Temporal can bundle it into repeated workflows.
export type { CheckedPlan } from './plan/checked.ts'
export { runPlan } from './run/run-plan.ts'
export type { RunEvent, RunResult, StepOutcome, StepRequest } from './run/types.ts'
