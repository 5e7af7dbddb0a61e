import type { FileType } from '../../contract/file-types.ts'
import type { MountPath, VirtualPath } from '../../path/virtual-path.ts'
import type { NamespaceNode } from '../../policy/namespace.ts'
import type { CompiledPattern } from '../../policy/patterns.ts'
import type { Gate } from '../../mount/gate.ts'
import type { WorkspaceMount } from '../../mount/mounts.ts'
import type { Placeholder } from './git-directories.ts'

export interface Match {
  readonly path: VirtualPath
  /** `missing`: a name that git would read in a repository. `closed`: a directory that cannot be read. */
  readonly type: FileType | 'missing' | 'closed'
  readonly placeholder?: Placeholder | undefined
  readonly mount: WorkspaceMount
  readonly pattern: CompiledPattern
}

export interface Passage {
  readonly path: VirtualPath
  readonly patterns: readonly CompiledPattern[]
}

export interface WalkOptions {
  readonly gate: Gate
  readonly patterns: readonly CompiledPattern[]
  /** Returns the rights of commands at a node, regardless of pattern rules. */
  readonly rightsAt: (node: NamespaceNode<WorkspaceMount>) => number
  /** Names of acknowledged rules, which give no restriction. */
  readonly acknowledged: ReadonlySet<string>
}

/** Maximum number of directories that the walk for one command enters. */
export const maxDirectories = 200_000
/** Maximum number of matches that the walk for one command collects. A command covers at most `maxParts`. */
export const maxMatches = 20_000

export interface Start {
  readonly path: VirtualPath
  readonly mount: WorkspaceMount
  readonly patterns: readonly CompiledPattern[]
}

export interface Tally {
  readonly matches: Match[]
  readonly passages: Passage[]
  directories: number
}

export function overflowOf({ matches, directories }: Omit<Tally, 'passages'>): 'directories' | 'matches' | undefined {
  if (matches.length > maxMatches) return 'matches'
  return directories > maxDirectories ? 'directories' : undefined
}

export function strictest(patterns: readonly CompiledPattern[]): CompiledPattern | undefined {
  return patterns.find(({ rights }) => rights === 0) ?? patterns[0]
}

/** The findings of one directory, kept for the next walk. */
export interface Remembered {
  /** Identifies the state of the directory. `undefined`: later changes may not show in the directory's times. */
  readonly stamp: string | undefined
  readonly looking: readonly CompiledPattern[]
  /** The match of the directory itself. */
  readonly own: Match | undefined
  readonly directories: string[]
  readonly directoryMatches: Match[]
  readonly matches: Match[]
  readonly passages: Passage[]
  /** Entries that can make git accept the directory as a repository. */
  readonly git: { readonly name: string; readonly type: FileType }[]
}

/** The findings of a walk below its start. */
export interface Findings {
  readonly matches: readonly Match[]
  readonly passages: readonly Passage[]
  readonly directories: number
}

export interface WalkMemory {
  /** Directories in an order that puts parents before children. */
  readonly directories: ReadonlyMap<MountPath, Remembered>
  /** Present if the findings cover every entered directory, and a watch reports changes after `position`. */
  readonly watched?: {
    readonly position: number
    /** Directories that were read before their watch was added, or have hidden entries. */
    readonly unsure: ReadonlySet<MountPath>
    readonly findings: Findings
  }
}

const nothing: WalkMemory = { directories: new Map() }
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
