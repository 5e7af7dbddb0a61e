import type { FileType } from '../../contract/file-types.ts'
import type { MountPath, VirtualPath } from '../../path/virtual-path.ts'
import type { CompiledPattern } from '../../policy/patterns.ts'
import type { Gate } from '../../mount/gate.ts'
import type { WorkspaceMount } from '../../mount/mounts.ts'
import type { Placeholder } from './git-directories.ts'

export interface Match {
  readonly path: VirtualPath
  /** `missing`: a name that git would look for in a repository. `closed`: a directory that cannot be read. */
  readonly type: FileType | 'missing' | 'closed'
  readonly placeholder?: Placeholder | undefined
  readonly mount: WorkspaceMount
  readonly pattern: CompiledPattern
}

export interface Passage {
  readonly path: VirtualPath
  readonly patterns: readonly CompiledPattern[]
}

/** The findings of a walk in a directory, for the next one. */
export interface Remembered {
  readonly stamp: string
  readonly own: Match | undefined
  readonly looking: readonly CompiledPattern[]
  readonly directories: string[]
  readonly matches: Match[]
  readonly passages: Passage[]
  /** Entries by which git may take the directory for a repository. */
  readonly git: { readonly name: string; readonly type: FileType }[]
}

export type WalkMemory = ReadonlyMap<MountPath, Remembered>

const nothing: WalkMemory = new Map()
const memories = new WeakMap<Gate, Map<string, WalkMemory>>()

export function memoryOf(gate: Gate, key: string): WalkMemory {
  return memories.get(gate)?.get(key) ?? nothing
}

/** Stores the memory of a finished walk. The memory must not change after this call. */
export function remember(gate: Gate, key: string, memory: WalkMemory): void {
  const known = memories.get(gate)
  if (known === undefined) memories.set(gate, new Map([[key, memory]]))
  else known.set(key, memory)
}
