import type { Facts, PlainError, ScanResult } from '@ws/tree/disk'

import type { ReplicaConflict } from '../contract.ts'

/** Larger files are sent in pieces, and take the memory of a few pieces. */
export const largeBytes = 4 * 1024 * 1024

/** One entry as last agreed. */
export interface Base {
  readonly path: string
  readonly type: Facts['type']
  /** The version in the store. It means nothing for directories. */
  readonly version: string
  readonly content: string | undefined
  readonly target: string | undefined
  readonly size: number
  readonly mode: number
  readonly mtime: number
}

export interface Seen extends Pick<Facts, 'type' | 'size' | 'mode' | 'mtime' | 'content' | 'target'> {
  /** The last change of name, bytes or bits. Absent if the entry is in its agreed state. */
  readonly ctime?: number | undefined
}

export interface Looked extends Pick<ScanResult, 'gone' | 'leftOut' | 'unknown'> {
  readonly changed: ReadonlyMap<string, Seen>
}

export interface WorkerData {
  /** The prefix of temporary names, which identifies their process. */
  readonly tempName: string
}

export interface ServiceData {
  /** Canonical host path. */
  readonly files: string
  /** If absent, the state is kept in memory. */
  readonly stateDirectory: string | undefined
  readonly maxFileBytes: number
  readonly rebuild: readonly string[]
  readonly owner: { readonly uid: number; readonly gid: number }
}

export interface Opened {
  /** A random identity, made with the state. */
  readonly id: string
  /** The store of this state, if known. */
  readonly store: string | undefined
  readonly isNew: boolean
  readonly base: readonly Base[]
  readonly seen: readonly (readonly [string, Seen])[]
  readonly conflicts: readonly ReplicaConflict[]
}

export interface LookRequest {
  /** Only these paths, with everything below them. Default: all. */
  readonly only?: readonly string[] | undefined
  /** Reserved names. Callers see no entry there. */
  readonly reserved: readonly string[]
  readonly mapped: boolean
}

export interface Wanted {
  readonly path: string
  readonly type: Facts['type']
  readonly mode: number
  readonly mtime: number
  readonly target?: string | undefined
}

export interface Put {
  readonly wanted: Wanted
  /** The bytes of a file, or the number of a file from {@link Methods.newFile}. */
  readonly source: Uint8Array | number | undefined
  readonly version: string
}

/** The present entry, or the reason why the entry was left unchanged. */
export type Outcome = { readonly facts: Seen } | { readonly unexpected: string }

export interface Hosted {
  start(data: ServiceData): number
  call(replica: number, method: keyof Methods, args: readonly unknown[]): unknown
  end(replica: number): void
}

/** Each method ends before the next begins. */
export interface Methods {
  open(): Opened
  /** Binds the local state to this store. */
  adopt(store: string | undefined): void
  look(request: LookRequest): Looked
  /** The bytes of an unchanged file, or `undefined`. */
  read(path: string, mapped: boolean): Uint8Array | undefined
  /** Opens an unchanged file for reading in pieces. Returns its number, or `undefined`. */
  openFile(path: string, mapped: boolean): number | undefined
  /** The next piece, or at the end, whether all pieces were in the last seen state. */
  nextPiece(file: number): Uint8Array | { readonly isWhole: boolean }
  /** Begins a file in pieces, and returns its number. If `kept` is false, only the hash is computed. */
  newFile(kept: boolean): number
  addPiece(file: number, bytes: Uint8Array): void
  hashOf(file: number): string
  /** Closes a file, and removes a new file. Closing twice is fine. */
  closeFile(file: number): void
  /** Makes or replaces unchanged entries, and agrees on these versions. A failed entry delays no other entry. */
  put(puts: readonly Put[]): readonly (Outcome | { readonly failed: PlainError })[]
  /** Removes an unchanged entry, or returns the reason for a refusal. */
  remove(path: string): string | undefined
  /** Renames any entry at a path. Returns false if no entry exists. */
  setAside(path: string, to: string): boolean
  agree(base: readonly Base[], gone: readonly string[]): void
  conflict(conflict: ReplicaConflict): void
  settle(kept: readonly string[]): void
  /** The hash of each file and the target of each link, read again. */
  hashes(): readonly (readonly [string, string])[]
}
