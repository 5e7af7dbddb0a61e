import type { CheckpointEngine } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import type { Executor, Requirement } from '@ws/core/executor'

import type { OutputPlace } from '../paths.ts'
import type { LandedEntry } from '../state/records.ts'
import type { RunState } from '../state/state.ts'
import type { StepTypes } from '../types/types.ts'
import type { Hasher } from './tree.ts'

export interface ExecuteContext {
  readonly workspace: StorageAdapter
  readonly output: StorageAdapter
  readonly place: OutputPlace
  readonly state: RunState
  readonly types: StepTypes
  readonly executors: readonly Executor[] | undefined
  readonly require: Requirement | undefined
  readonly checkpoints: CheckpointEngine | undefined
  readonly hasher: Hasher
  readonly inputHashes: Map<string, string>
  readonly known: KnownEntries
}

/** The entries of the output that the runner wrote in any run. */
export class KnownEntries {
  readonly #entries = new Map<string, Set<string>>()

  add(entries: readonly LandedEntry[]): void {
    for (const entry of entries) {
      const contents = this.#entries.get(entry.path) ?? new Set()
      contents.add(contentOf(entry))
      this.#entries.set(entry.path, contents)
    }
  }

  has(entry: LandedEntry): boolean {
    return this.#entries.get(entry.path)?.has(contentOf(entry)) === true
  }
}

function contentOf(entry: LandedEntry): string {
  if (entry.type === 'file') return `file ${entry.hash}`
  return entry.type === 'symlink' ? `symlink ${entry.target}` : entry.type
}
