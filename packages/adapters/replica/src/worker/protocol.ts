import type { EntryType, Facts, PlainError, ScanResult } from '@ws/tree/disk'

import type { ReplicaConflict } from '../contract.ts'

/** Files with more bytes go from and to the store in pieces, so that each takes the memory of a few pieces. */
export const largeBytes = 4 * 1024 * 1024

/** One entry as this machine and the store last agreed on it. */
export interface Base {
  readonly path: string
  readonly type: EntryType
  /** The store's; of directories it says nothing. */
  readonly version: string
  readonly content: string | undefined
  readonly target: string | undefined
  readonly size: number
  /** As this machine had them then. */
  readonly mode: number
  readonly mtime: number
}

export interface Seen extends Pick<Facts, 'type' | 'size' | 'mode' | 'mtime' | 'content' | 'target'> {
  /** The last change of its name, its bytes or its bits. Absent where the entry is as agreed upon. */
  readonly ctime?: number | undefined
}

export interface Looked extends Pick<ScanResult, 'gone' | 'leftOut' | 'unknown'> {
  readonly changed: ReadonlyMap<string, Seen>
}

export interface WorkerData {
  /** How the names of temporary files begin: they say which process has made them. */
  readonly tempName: string
}

export interface ServiceData {
  /** Canonical, with the files. */
  readonly files: string
  /** Absent: the state is kept in memory. */
  readonly stateDirectory: string | undefined
  readonly maxFileBytes: number
  readonly rebuild: readonly string[]
  readonly owner: { readonly uid: number; readonly gid: number }
}

export interface Opened {
  /** Random, made with the state. */
  readonly id: string
  /** The store that the state is of; absent where that is not known. */
  readonly store: string | undefined
  /** Nothing was hydrated yet. */
  readonly isNew: boolean
  readonly base: readonly Base[]
  readonly seen: readonly (readonly [string, Seen])[]
  readonly conflicts: readonly ReplicaConflict[]
}

export interface LookRequest {
  readonly only?: readonly string[] | undefined
  /** Names that commands have reserved: to callers nothing is there. */
  readonly reserved: readonly string[]
  /** Programs that run may have files mapped. */
  readonly mapped: boolean
}

export interface Wanted {
  readonly path: string
  readonly type: EntryType
  readonly mode: number
  readonly mtime: number
  readonly target?: string | undefined
}

export interface Put {
  readonly wanted: Wanted
  /** The bytes of a file, or the number of a new one. */
  readonly source: Uint8Array | number | undefined
  readonly version: string
}

/** The entry as it is now, or why it was left alone. */
export type Outcome = { readonly facts: Seen } | { readonly unexpected: string }

export interface Hosted {
  /** Answers the number of the replica. */
  start(data: ServiceData): number
  call(replica: number, method: keyof Methods, args: readonly unknown[]): unknown
  end(replica: number): void
}

export interface Methods {
  open(): Opened
  /** Binds the local state to this store. */
  adopt(store: string | undefined): void
  look(request: LookRequest): Looked
  /** The bytes of a file that is as the last look saw it, or `undefined`. */
  read(path: string, mapped: boolean): Uint8Array | undefined
  /** Opens such a file for reading in pieces. Answers its number, or `undefined`. */
  openFile(path: string, mapped: boolean): number | undefined
  /** The next piece. At the end: whether all pieces were those that the last look saw. */
  nextPiece(file: number): Uint8Array | { readonly isWhole: boolean }
  /** Begins a file that comes in pieces. Answers its number. @param kept false: only its hash is wanted */
  newFile(kept: boolean): number
  addPiece(file: number, bytes: Uint8Array): void
  hashOf(file: number): string
  /** Closes a file, and removes a new one. Closing twice is fine. */
  closeFile(file: number): void
  /** Makes or replaces entries that are as last seen, agreed upon as these versions. A failure holds up no other. */
  put(puts: readonly Put[]): readonly (Outcome | { readonly failed: PlainError })[]
  /** Removes an entry that is as the last look saw it. Answers why it did not. */
  remove(path: string): string | undefined
  /** Gives whatever is at a path another name. Answers false where nothing is there. */
  setAside(path: string, to: string): boolean
  agree(base: readonly Base[], gone: readonly string[]): void
  /** Notes a conflict before its version is set aside. */
  conflict(conflict: ReplicaConflict): void
  /** The kept versions of these paths are gone. */
  settle(kept: readonly string[]): void
  /** The hash of each file and the target of each link, read again. */
  hashes(): readonly (readonly [string, string])[]
}
