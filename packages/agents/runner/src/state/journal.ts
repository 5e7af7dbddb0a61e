import type { MountPath } from '@ws/core/adapter'

import type { AttemptKey, Landed, RunRecord, StepRecord } from './records.ts'

export interface LastState {
  readonly landed?: Landed | undefined
  readonly order?: number | undefined
  /** The objects with the states of the step. The next state replaces these objects. */
  readonly objects?: readonly MountPath[] | undefined
}

/** State that the caller of `saveEnd` has read under the step's lease. Passing it saves the requests for a second read. */
export interface SinceLook {
  readonly last: LastState
  readonly isLanding: boolean
}

/** Stores runs and steps. Each call is atomic, also after a crash. */
export interface Journal {
  lastRun(): Promise<RunRecord | undefined>
  saveRun(run: RunRecord): Promise<void>
  find(key: AttemptKey): Promise<StepRecord | undefined>
  records(runId: string): Promise<StepRecord[]>
  /** Records a landing before the first of its files is in the output. */
  saveLanding(record: StepRecord): Promise<void>
  /** `landed` replaces the last state of the step in the same transaction. @throws WorkspaceError `ECONFLICT` for an ended attempt */
  saveEnd(record: StepRecord, landed?: Landed, since?: SinceLook): Promise<void>
  /** Deletes the failed attempts of a run, so that their steps can run again. Returns the remaining records. */
  dropFailures(runId: string): Promise<StepRecord[]>
  openLandings(): Promise<StepRecord[]>
  last(stepId: string): Promise<LastState>
  allLanded(): Promise<Landed[]>
}
