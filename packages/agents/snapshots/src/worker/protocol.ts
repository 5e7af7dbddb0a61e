import type { Version } from '@ws/core'
import type { EntryState } from '@ws/core/adapter'
import type { Facts } from '@ws/tree/disk'

import type { Conflict } from '../disk/restore/restore.ts'
import type { Limits, Pair } from '../disk/tree.ts'

export interface WorkerData {
  /** Absent for a worker that only makes diffs. */
  readonly stateDirectory?: string | undefined
  /** How the names of temporary files begin: they say which process has made them. */
  readonly tempName: string
  readonly limits: Limits & { readonly maxAge: number }
}

export interface TreeName {
  readonly key: string
  /** Canonical. */
  readonly path: string
}

export interface Stored {
  readonly id: string
  readonly label?: string | undefined
  readonly createdAt: number
  readonly automatic: boolean
}

export interface ScanRequest {
  /** The id of a checkpoint that must not make room. */
  readonly keep?: string | undefined
  /** Names that commands have reserved, by the number of their tree: to callers nothing is there. */
  readonly reserved: Readonly<Record<number, readonly string[]>>
}

export interface SaveRequest extends ScanRequest {
  readonly trees: readonly number[]
  readonly label?: string | undefined
  readonly automatic: boolean
  /** The id is that of a checkpoint that other mounts have taken already. */
  readonly id: string
  /** Other mounts have changed: it is taken even where no tree has. */
  readonly forced: boolean
  /** The id of a look at all trees. Where it was the last one, and has succeeded, another one is not needed. */
  readonly after?: string | undefined
}

export type LeftOutAt = { readonly tree: number; readonly path: string; readonly reason: string }

/** A pair of a tree. */
export interface PairAt extends Pair {
  readonly tree: number
}

/** The state of a path of a store, without its bytes. */
export interface KeptState {
  readonly type: EntryState['type']
  readonly size: number
  readonly mode?: number | undefined
  readonly modifiedAt?: number | undefined
  readonly version: Version
  readonly target?: string | undefined
  /** The name of its saved bytes. */
  readonly content?: string | undefined
}

export interface KeptRow {
  readonly path: string
  /** Absent: nothing was there. */
  readonly state?: KeptState | undefined
}

export interface KeepRequest {
  /** The id of a checkpoint that must not make room. */
  readonly keep?: string | undefined
  readonly tree: number
  readonly path: string
  readonly state?: (KeptState & { readonly bytes?: Uint8Array | undefined }) | undefined
}

export interface DiffSide {
  readonly name: string
  readonly facts?: Pick<Facts, 'type' | 'size' | 'mode' | 'target'> | undefined
  /** The bytes, or the name of saved ones in a tree. */
  readonly bytes?: Uint8Array | undefined
  readonly content?: string | undefined
  readonly tree?: number | undefined
}

export interface Methods {
  /** Answers the numbers of the trees, in their order. */
  open(trees: readonly TreeName[]): number[]
  /** Trees and journals. */
  shut(trees: readonly number[]): void
  /** @param request with an id of the look, where a checkpoint may name it */
  scan(request: ScanRequest & { readonly trees: readonly number[]; readonly look?: string | undefined }): void
  save(request: SaveRequest): { readonly checkpoint: Stored; readonly leftOut: readonly LeftOutAt[] } | undefined
  list(trees: readonly number[]): Stored[]
  compare(
    request: ScanRequest & {
      readonly trees: readonly number[]
      readonly since: string
      readonly until?: string | undefined
    },
  ): PairAt[]
  restore(request: {
    readonly tree: number
    readonly since: string
    readonly until: string
    readonly paths: readonly string[]
  }): Conflict[]
  /** Opens a store's journal. Answers its number, whether it has a checkpoint, and what it kept. @param key the store */
  openJournal(key: string): {
    readonly tree: number
    readonly isOpen: boolean
    readonly types: readonly (readonly [path: string, type: EntryState['type'] | 'nothing'])[]
  }
  /** Keeps the state of a path, where the latest checkpoint has none yet. */
  keep(request: KeepRequest): void
  /** Notes what a look has found at a path, and keeps what the look before has found. Answers whether that is another state. */
  note(request: KeepRequest): boolean
  /** The states of the paths that were changed since a checkpoint, as they were at it. */
  kept(tree: number, since: string): KeptRow[]
  /** Bytes that were saved. */
  bytes(content: string): Uint8Array
  diff(before: DiffSide, after: DiffSide): string
  collect(): void
}
