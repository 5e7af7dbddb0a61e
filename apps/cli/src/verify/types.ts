import type { ExecutorName } from '../config/executors.ts'

export type MountPoint = '/' | '/workspace'

/**
 * - `ok`: the guarantee holds.
 * - `refused`: the executor declares that a feature is missing, and refuses the command.
 * - `view`: the executor declares only translated paths, which a determined program can evade.
 * - `skipped`: the test does not apply here; the note gives the reason.
 * - `failed`: the guarantee does not hold.
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

/** An executor that cannot run at a mount point. */
export interface Unavailable {
  readonly executor: ExecutorName
  readonly at: MountPoint
  readonly missing: readonly string[]
  readonly howToFix: readonly string[]
}

export interface Report {
  readonly results: readonly CheckResult[]
  readonly unavailable: readonly Unavailable[]
  /** The form of the commands' root, for each executor that can make the root in several forms. */
  readonly roots: readonly { readonly executor: ExecutorName; readonly at: MountPoint; readonly form: string }[]
}
