import type { AttemptKey, Landed, RunRecord, StepRecord } from './records.ts'

/** Remembers runs and steps. Each call is whole or has not happened, also after a crash. */
export interface Journal {
  /** The run that was begun last. */
  lastRun(): Promise<RunRecord | undefined>
  saveRun(run: RunRecord): Promise<void>
  find(key: AttemptKey): Promise<StepRecord | undefined>
  /** All records of one run. */
  records(runId: string): Promise<StepRecord[]>
  /** Notes a landing, before anything of it is in the output. */
  saveLanding(record: StepRecord): Promise<void>
  /**
   * Notes the end of an attempt, for good. With `landed` it replaces the last state of the step in the same transaction.
   *
   * @throws WorkspaceError `ECONFLICT` where the attempt has ended already
   */
  saveEnd(record: StepRecord, landed?: Landed): Promise<void>
  /** Forgets the failed attempts of a run, so that it can try them again. */
  dropFailures(runId: string): Promise<void>
  /** Landings that were begun and not ended, of all runs. */
  openLandings(): Promise<StepRecord[]>
  landed(stepId: string): Promise<Landed | undefined>
  /** The last state of every step. */
  allLanded(): Promise<Landed[]>
  close(): Promise<void>
}
