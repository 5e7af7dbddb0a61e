import type { StorageAdapter } from '@ws/core/adapter'
import type { LeaseStore } from '@ws/threads'

import type { Journal } from './journal.ts'
import type { AttemptKey } from './records.ts'

export interface Staging {
  readonly adapter: StorageAdapter
  close(): Promise<void>
}

export interface RunState {
  readonly journal: Journal
  readonly leases: LeaseStore
  openStaging(key: AttemptKey, options: { readonly fresh: boolean }): Promise<Staging>
  removeStaging(key: AttemptKey): Promise<void>
  sweep(keep: readonly AttemptKey[]): Promise<void>
  close(): Promise<void>
}

/** The name of a staging directory. Names of runs and steps contain no `~`. */
export function stagingName({ runId, stepId, attempt }: AttemptKey): string {
  return `${runId}~${stepId}~${attempt}`
}
