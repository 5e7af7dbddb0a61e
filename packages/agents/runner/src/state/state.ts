import type { StorageAdapter } from '@ws/core/adapter'
import type { LeaseStore } from '@ws/threads'

import type { Journal } from './journal.ts'
import type { AttemptKey } from './records.ts'

/** A step's own directory: it writes there, and what is complete lands in the output. */
export interface Staging {
  readonly adapter: StorageAdapter
  /** Closes the adapter. The files stay. */
  close(): Promise<void>
}

/** The runner's own records and files, where no step can reach them. */
export interface RunState {
  readonly journal: Journal
  readonly leases: LeaseStore
  /** The staging directory of an attempt. `fresh`: empties it first. */
  openStaging(key: AttemptKey, options: { readonly fresh: boolean }): Promise<Staging>
  removeStaging(key: AttemptKey): Promise<void>
  /** Removes every staging directory but these: what failed attempts of earlier runs left. */
  sweep(keep: readonly AttemptKey[]): Promise<void>
  close(): Promise<void>
}

/** The name of a staging directory. Names of runs and steps hold no `~`. */
export function stagingName({ runId, stepId, attempt }: AttemptKey): string {
  return `${runId}~${stepId}~${attempt}`
}
