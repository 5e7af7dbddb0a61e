import type { Version } from '@ws/core'
import type { Checkpoints } from '@ws/core/adapter'
import type { Facts } from '@ws/tree/disk'

import type { ForkPair } from '../disk/merge.ts'
import type { Conflict } from '../disk/restore/restore.ts'
import type { Limits, Pair } from '../disk/tree.ts'

export interface WorkerData {
  readonly stateDirectory?: string | undefined
  /** A prefix of temporary files that names their process. */
  readonly tempName: string
  readonly limits: Limits & { readonly maxAge: number }
}

export interface TreeName {
  readonly key: string
  readonly path: string
}

export interface Stored {
  readonly id: string
  readonly label?: string | undefined
  readonly createdAt: number
  readonly automatic: boolean
}

export interface ScanRequest {
  /** The id of a checkpoint that must not be deleted to make room. */
  readonly keep?: string | undefined
  /** Names reserved by commands, by tree number; callers see no file there. */
  readonly reserved: Readonly<Record<number, readonly string[]>>
  readonly withoutBytes?: boolean | undefined
}

export interface SaveRequest extends ScanRequest {
  readonly trees: readonly number[]
  readonly label?: string | undefined
  readonly automatic: boolean
  /** The id of a checkpoint that other mounts have taken already. */
  readonly id: string
  /** True if other mounts have changed. The checkpoint is then saved even if no tree has changed. */
  readonly forced: boolean
  /** The id of a scan of all trees. If this scan was the last one and succeeded, no further scan is needed. */
  readonly after?: string | undefined
}

export type LeftOutAt = { readonly tree: number; readonly path: string; readonly reason: string }

export interface PairAt extends Pair {
  readonly tree: number
}

export interface ForkedTree {
  readonly origin: number
  readonly fork: number
}

export interface KeptState {
  readonly type: Checkpoints.EntryState['type']
  readonly size: number
  readonly mode?: number | undefined
  readonly modifiedAt?: number | undefined
  readonly version: Version
  readonly target?: string | undefined
  readonly content?: string | undefined
}

export interface KeptRow {
  readonly path: string
  readonly state?: KeptState | undefined
}

export interface KeepRequest {
  readonly keep?: string | undefined
  readonly tree: number
  readonly path: string
  readonly state?: (KeptState & { readonly bytes?: Uint8Array | undefined }) | undefined
}

export interface DiffSide {
  readonly name: string
  readonly facts?: Pick<Facts, 'type' | 'size' | 'mode' | 'target'> | undefined
  /** Either `bytes`, or `content` and `tree`, which name saved bytes. */
  readonly bytes?: Uint8Array | undefined
  readonly content?: string | undefined
  readonly tree?: number | undefined
}

export interface Methods {
  open(trees: readonly TreeName[]): number[]
  shut(trees: readonly number[]): void
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
    readonly discards: boolean
  }): Conflict[]
  /** Records trees as copies of others, in the same order, that were made after the checkpoint `since`. */
  beginForks(
    request: ScanRequest & {
      readonly trees: readonly number[]
      readonly origins: readonly number[]
      readonly since: string
    },
  ): void
  /** The checkpoint that trees share with their origins. `undefined`: the trees are not forks. */
  sharedBy(trees: readonly number[]): string | undefined
  /** Deletes all states of trees. */
  forget(trees: readonly number[]): void
  /** @throws WorkspaceError `EINVAL` for a fork of another tree, or of another checkpoint */
  compareFork(
    request: ScanRequest & {
      readonly trees: readonly ForkedTree[]
      readonly since: string
      readonly until?: string | undefined
    },
  ): (ForkedTree & { readonly turn: number; readonly changes: readonly ForkPair[] })[]
  /** @param request `turn`: of the fork in the latest comparison; `moves`: from removed paths to new ones */
  merge(
    request: ForkedTree & {
      readonly until: string
      readonly turn: number
      readonly paths: readonly string[]
      readonly moves: ReadonlyMap<string, string>
    },
  ): Conflict[]
  hold(trees: readonly number[], held: Checkpoints.Held | undefined): void
  /** @throws WorkspaceError `EBUSY` if the try also had other trees */
  held(trees: readonly number[]): Checkpoints.Held | undefined
  /** Returns a journal's number, whether it has a checkpoint, and its kept states. @param key names the store */
  openJournal(key: string): {
    readonly tree: number
    readonly isOpen: boolean
    readonly types: readonly (readonly [path: string, type: Checkpoints.EntryState['type'] | 'nothing'])[]
  }
  keep(request: KeepRequest): void
  /** Records a scanned state, and keeps the previous state. Returns whether the two differ. */
  note(request: KeepRequest): boolean
  kept(tree: number, since: string): KeptRow[]
  bytes(content: string): Uint8Array
  diff(before: DiffSide, after: DiffSide): string
  collect(): void
}
