import type { ExecutorName } from '../config/executors.ts'

export type MountPoint = '/' | '/workspace'

/**
 * - `ok`: the promise is kept.
 * - `refused`: the executor declares a lack, and refuses the command.
 * - `view`: a declared translation, which a determined program can evade.
 * - `skipped`: the test does not apply here; see the note.
 * - `failed`: the promise is broken.
 */
export type Status = 'ok' | 'refused' | 'view' | 'skipped' | 'failed'

/** One test of the conformance kit: its group and title. */
export interface Check {
  readonly group: string
  readonly title: string
}

export interface CheckResult {
  readonly check: Check
  readonly executor: ExecutorName
  readonly at: MountPoint
  readonly store?: string | undefined
  readonly status: Status
  readonly note?: string | undefined
  readonly duration: number
}

/** An executor that cannot run at a place. */
export interface Unavailable {
  readonly executor: ExecutorName
  readonly at: MountPoint
  readonly missing: readonly string[]
  readonly howToFix: readonly string[]
}

export interface Report {
  readonly results: readonly CheckResult[]
  readonly unavailable: readonly Unavailable[]
  /** The form in which executors make the root of commands, if they have a choice. */
  readonly roots: readonly { readonly executor: ExecutorName; readonly at: MountPoint; readonly form: string }[]
}
