import type { ExecutorName } from '../config/executors.ts'

export type MountPoint = '/' | '/workspace'

/**
 * - `ok`: it holds.
 * - `refused`: the executor declares that it does not hold this, or cannot do it, and refuses.
 * - `view`: the executor declares a translation, which a determined program can get around.
 * - `skipped`: it does not apply here; the note says why.
 * - `failed`: it does not hold.
 */
export type Status = 'ok' | 'refused' | 'view' | 'skipped' | 'failed'

/** One test of the kit: its group, and what is true when it passes. */
export interface Check {
  readonly group: string
  readonly title: string
}

export interface CheckResult {
  readonly check: Check
  readonly executor: ExecutorName
  readonly at: MountPoint
  /** Where the files were, if not in a directory of this machine: `s3`. */
  readonly store?: string | undefined
  readonly status: Status
  /** Why it failed, was refused or was skipped. */
  readonly note?: string | undefined
  /** Milliseconds. */
  readonly duration: number
}

/** An executor at one place that cannot run here at all. */
export interface Unavailable {
  readonly executor: ExecutorName
  readonly at: MountPoint
  readonly missing: readonly string[]
  readonly howToFix: readonly string[]
}

export interface Report {
  readonly results: readonly CheckResult[]
  readonly unavailable: readonly Unavailable[]
  /** How each executor makes the root of commands, where there is a choice. */
  readonly roots: readonly { readonly executor: ExecutorName; readonly at: MountPoint; readonly form: string }[]
}
