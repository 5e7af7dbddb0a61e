import type { WorkspaceError } from '@ws/core'
import type { MountPath, SignalOption, StorageAdapter } from '@ws/core/adapter'

/** Two versions of one path, made apart from each other. Both are kept. */
export interface ReplicaConflict {
  /** Holds the version of the store. */
  readonly path: MountPath
  /** Holds the version of this machine. */
  readonly kept: MountPath
  /** Milliseconds since the epoch. */
  readonly time: number
  /** `content`: both changed the file. `type`: they are entries of two types, as a file and a directory. */
  readonly kind: 'content' | 'type'
}

/** An entry that is on one side only, since the other cannot hold it. */
export interface ReplicaLeftOut {
  readonly path: MountPath
  readonly reason: string
  /** False for FIFOs, sockets and devices, which have no bytes, and for entries of the store: a flush goes on without them. */
  readonly holdsBytes: boolean
}

/** How far the copy is that goes on in the background after a replica was opened. */
export interface ReplicaProgress {
  readonly copied: { readonly files: number; readonly bytes: number }
  readonly total: { readonly files: number; readonly bytes: number }
}

export interface ReplicaStatus {
  /** Absent once every file of the store is on the disk. */
  readonly copying: ReplicaProgress | undefined
  /** Paths whose change is not acknowledged by the store, as far as the last look at the directory knows. Sorted. */
  readonly dirty: readonly MountPath[]
  /** Bytes of the files among them. */
  readonly waitingBytes: number
  /** The last flush that resolved. */
  readonly lastFlush: ReplicaFlush | undefined
  /** The conflicts whose kept version is still there, the oldest first. */
  readonly conflicts: readonly ReplicaConflict[]
  readonly leftOut: readonly ReplicaLeftOut[]
}

export interface ReplicaFlush {
  /** Its end, in milliseconds since the epoch. */
  readonly time: number
  /** Changes that the store has acknowledged. */
  readonly pushed: number
  /** Paths that changed again between the look at the directory and their upload. The later bytes were uploaded. Sorted. */
  readonly changedMeanwhile: readonly MountPath[]
}

export interface ReplicaVerification {
  /** Files that were agreed upon with the store, and their bytes. */
  readonly files: number
  readonly bytes: number
  /** SHA-256, base64url, of the sorted lines of path, NUL, hash of the agreed files: equal receipts mean equal trees. */
  readonly digest: string
  /** Paths whose bytes on the disk are not those that were agreed upon: changed here, or damaged. Sorted. */
  readonly differing: readonly MountPath[]
}

/** Something that an operator wants to know. Nothing waits for the listener. */
export type ReplicaEvent =
  | ({ readonly event: 'conflict' } & ReplicaConflict)
  | ({ readonly event: 'left-out' } & ReplicaLeftOut)
  /** The copy in the background goes on: at most once a second, and at its end. */
  | ({ readonly event: 'copying' } & ReplicaProgress)
  /** The copy in the background has stopped. The next command or call goes on with it. */
  | { readonly event: 'copy-failed'; readonly error: WorkspaceError }
  /** A push that nothing waited for has failed: it is tried again. */
  | { readonly event: 'push-failed'; readonly error: WorkspaceError }

export interface ReplicaAdapter extends StorageAdapter {
  /**
   * Looks at the whole directory, and resolves when the store has everything it saw; see `status().lastFlush`.
   *
   * @throws WorkspaceError `ECONFLICT` with the conflicts of this flush, of which the store has both versions; `ENOTSUP` for entries
   * that the store cannot hold; `EBUSY` for a file that never held still; errors of the store. The rest was pushed then.
   */
  flush(options?: SignalOption): Promise<void>
  status(): ReplicaStatus
  /** Reads every file of the directory again, and compares it with the hash that was agreed upon with the store. */
  verify(options?: SignalOption): Promise<ReplicaVerification>
}
