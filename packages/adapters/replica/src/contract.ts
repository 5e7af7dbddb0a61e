import type { WorkspaceError } from '@ws/core'
import type { MountPath, SignalOption, StorageAdapter } from '@ws/core/adapter'

/** Two versions of one path, both kept. */
export interface ReplicaConflict {
  /** The store's version. */
  readonly path: MountPath
  /** This machine's version. */
  readonly kept: MountPath
  /** Milliseconds since the epoch. */
  readonly time: number
  /** `content`: both changed the file. `type`: the entries have different types. */
  readonly kind: 'content' | 'type'
}

/** An entry of one side that the other side cannot hold. */
export interface ReplicaLeftOut {
  readonly path: MountPath
  readonly reason: string
  /** False for FIFOs, sockets and devices, and for entries of the store: a flush skips them. */
  readonly holdsBytes: boolean
}

/** Progress of the copy in the background. */
export interface ReplicaProgress {
  readonly copied: { readonly files: number; readonly bytes: number }
  readonly total: { readonly files: number; readonly bytes: number }
}

export interface ReplicaStatus {
  /** Absent once every file of the store is on the disk. */
  readonly copying: ReplicaProgress | undefined
  /** Sorted changed paths that the store has not acknowledged. The last scan found them. */
  readonly dirty: readonly MountPath[]
  /** Bytes of the files in `dirty`. */
  readonly waitingBytes: number
  /** The last flush that resolved. */
  readonly lastFlush: ReplicaFlush | undefined
  /** Conflicts with a kept version still there, the oldest first. */
  readonly conflicts: readonly ReplicaConflict[]
  readonly leftOut: readonly ReplicaLeftOut[]
}

export interface ReplicaFlush {
  /** The end of the flush, in milliseconds since the epoch. */
  readonly time: number
  /** Changes that the store has acknowledged. */
  readonly pushed: number
  /** Sorted paths that changed between the scan and their upload. The store has the later bytes. */
  readonly changedMeanwhile: readonly MountPath[]
}

export interface ReplicaVerification {
  /** The number of agreed files, and the number of their bytes. */
  readonly files: number
  readonly bytes: number
  /** SHA-256 in base64url over the sorted lines of path, NUL and hash of the agreed files. Equal digests mean equal trees. */
  readonly digest: string
  /** Sorted paths whose bytes differ from the agreed bytes: changed on this machine, or damaged. */
  readonly differing: readonly MountPath[]
}

/** Events for an operator. Nothing waits for the listener. */
export type ReplicaEvent =
  | ({ readonly event: 'conflict' } & ReplicaConflict)
  | ({ readonly event: 'left-out' } & ReplicaLeftOut)
  /** Progress of the background copy: at most once a second, and at its end. */
  | ({ readonly event: 'copying' } & ReplicaProgress)
  /** The background copy has stopped; the next command or call continues it. */
  | { readonly event: 'copy-failed'; readonly error: WorkspaceError }
  /** A background push has failed, and will be tried again. */
  | { readonly event: 'push-failed'; readonly error: WorkspaceError }

export interface ReplicaAdapter extends StorageAdapter {
  /**
   * Scans the whole directory, and resolves when the store has every entry of the scan. See `status().lastFlush`.
   *
   * @throws WorkspaceError `ECONFLICT` with the conflicts of this flush, of which the store has both versions; `ENOTSUP` for entries
   * that the store cannot hold; `EBUSY` for a file that changed all the time; errors of the store. The other entries were pushed.
   */
  flush(options?: SignalOption): Promise<void>
  status(): ReplicaStatus
  /** Reads all files again, and compares their hashes with the agreed hashes. */
  verify(options?: SignalOption): Promise<ReplicaVerification>
}
