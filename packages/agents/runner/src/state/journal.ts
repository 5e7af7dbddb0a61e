import type { Version } from '@ws/core'

import type { AttemptKey, Landed, RunRecord, StepRecord } from './records.ts'

/** The last state of a step as it was found, for the end of an attempt that began with this look. */
export interface LastState {
  /** Absent: the step has never landed. */
  readonly landed?: Landed | undefined
  /** The place of the state in its order, and its version, where it is an object. */
  readonly order?: number | undefined
  readonly version?: Version | undefined
}

/** The knowledge of a caller of `saveEnd` that looked before, with a lease of the step: another look would cost requests. */
export interface SinceLook {
  readonly last: LastState
  /** Whether `saveLanding` was called. */
  readonly isLanding: boolean
}

/** Remembers runs and steps. Each call is whole or has not happened, also after a crash. */
export interface Journal {
  /** The run that was begun last. */
  lastRun(): Promise<RunRecord | undefined>
  saveRun(run: RunRecord): Promise<void>
  find(key: AttemptKey): Promise<StepRecord | undefined>
  records(runId: string): Promise<StepRecord[]>
  /** Notes a landing, before anything of it is in the output. */
  saveLanding(record: StepRecord): Promise<void>
  /**
   * Notes the end of an attempt, for good. With `landed` it replaces the last state of the step in the same transaction.
   * Without `since` it looks for that first.
   *
   * @throws WorkspaceError `ECONFLICT` where the attempt has ended already
   */
  saveEnd(record: StepRecord, landed?: Landed, since?: SinceLook): Promise<void>
  /** Forgets the failed attempts of a run, so that it can try them again. Gives the records of the ended ones that stay. */
  dropFailures(runId: string): Promise<StepRecord[]>
  /** Landings that were begun and not ended, of all runs. */
  openLandings(): Promise<StepRecord[]>
  last(stepId: string): Promise<LastState>
  /** The last state of every step. */
  allLanded(): Promise<Landed[]>
  close(): Promise<void>
}
