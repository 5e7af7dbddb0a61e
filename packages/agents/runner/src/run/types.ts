import type { CheckedStep } from '../plan/checked.ts'
import type { Json } from '../json.ts'

export interface StepRequest {
  /** The name of the run. Each attempt of a step is carried out once in a run. */
  readonly runId: string
  readonly step: CheckedStep
  readonly templates: Readonly<Record<string, string | undefined>>
  /** The number of the attempt, from 1. */
  readonly attempt: number
  /** True repeats a step even if the step is up to date. */
  readonly force?: boolean | undefined
}

export interface StepFailure {
  readonly code?: string | undefined
  readonly path?: string | undefined
  readonly rule?: string | undefined
  readonly message: string
}

/** The end of an attempt, as plain JSON. */
export interface StepOutcome {
  /** `current`: an earlier run did the step with the same inputs and settings. */
  readonly state: 'done' | 'current' | 'failed'
  readonly attempt: number
  /** The value that the type returned, for `done` and `current`. */
  readonly value?: Json | undefined
  /** The number of files that landed in this run or in an earlier run. */
  readonly files: number
  readonly bytes: number
  readonly failure?: StepFailure | undefined
}

/** The end of a step. `skipped`: the step never began, because another step failed. */
export type StepEnd = StepOutcome | { readonly state: 'skipped'; readonly because: string }

/** The end of a run, as plain JSON. */
export interface RunResult {
  readonly runId: string
  readonly state: 'done' | 'failed'
  /** In the order of the plan. */
  readonly steps: { readonly [id: string]: StepEnd }
}

/** Carries out one attempt, and stores its outcome under `id` as durably as the engine can. */
export type StepFunction = (id: string, request: StepRequest) => Promise<StepOutcome>

export type RunEvent =
  | { readonly type: 'start'; readonly step: string; readonly attempt: number }
  | { readonly type: 'end'; readonly step: string; readonly end: StepEnd }
