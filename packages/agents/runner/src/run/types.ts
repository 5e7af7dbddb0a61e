import type { CheckedStep } from '../plan/checked.ts'
import type { Json } from '../json.ts'

/** One attempt at one step, as an engine carries it. Plain JSON. */
export interface StepRequest {
  /** Names the run; attempts at steps of one run are done once each. */
  readonly runId: string
  readonly step: CheckedStep
  readonly templates: Readonly<Record<string, string | undefined>>
  /** From 1. */
  readonly attempt: number
  /** Do the step again though it is up to date. */
  readonly force?: boolean | undefined
}

/** An error as an outcome keeps it: nothing in it names a place of this machine. */
export interface StepFailure {
  readonly code?: string | undefined
  readonly path?: string | undefined
  readonly rule?: string | undefined
  readonly message: string
}

/** The end of one attempt. Plain JSON. */
export interface StepOutcome {
  /** `current`: an earlier run had done it with the same inputs and settings. */
  readonly state: 'done' | 'current' | 'failed'
  readonly attempt: number
  /** The value that the type returned, for `done` and `current`. */
  readonly value?: Json | undefined
  /** Files that landed, or had landed. */
  readonly files: number
  /** Bytes in them. */
  readonly bytes: number
  readonly failure?: StepFailure | undefined
}

/** The end of a step. `skipped`: it was not begun, since another step had failed. */
export type StepEnd = StepOutcome | { readonly state: 'skipped'; readonly because: string }

/** The end of a run. Plain JSON. */
export interface RunResult {
  readonly runId: string
  readonly state: 'done' | 'failed'
  /** In the order of the plan. */
  readonly steps: { readonly [id: string]: StepEnd }
}

/** Carries out one attempt, and remembers its outcome under `id` as durably as the engine can. */
export type StepFunction = (id: string, request: StepRequest) => Promise<StepOutcome>

/** Reports the events of a run, for a view. */
export type RunEvent =
  | { readonly type: 'start'; readonly step: string; readonly attempt: number }
  | { readonly type: 'end'; readonly step: string; readonly end: StepEnd }
