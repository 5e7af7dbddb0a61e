import type { ExecutorName } from '../config/executors.ts'

export type MountPoint = '/' | '/workspace'

/**
 * - `ok`: it holds.
 * - `refused`: the executor declares a lack, and refuses.
 * - `view`: a declared translation, which a determined program can evade.
 * - `skipped`: it does not apply here; see the note.
 * - `failed`: it does not hold.
 */
export type Status = 'ok' | 'refused' | 'view' | 'skipped' | 'failed'

/** One test of the kit: its group and its promise. */
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
  /** How executors make the root of commands, if they have a choice. */
  readonly roots: readonly { readonly executor: ExecutorName; readonly at: MountPoint; readonly form: string }[]
}
