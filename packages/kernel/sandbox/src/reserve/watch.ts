export interface WatchedCover {
  readonly point: string
  /** The sort of cover; `other` is not put back when it is lost. */
  readonly kind: 'file' | 'directory' | 'empty' | 'read-only' | 'writable' | 'other'
  /** It is not there yet. */
  readonly isLate?: boolean | undefined
}

export interface WatchRequest {
  /** The first process of the sandbox. */
  readonly pid: number
  readonly startTime: string
  /** Whose the sandbox is, where this process may become that user. */
  readonly owner: { readonly uid: number; readonly gid: number }
  /** Kill the sandbox at the first loss. */
  readonly ends: boolean
  readonly aliases: readonly string[]
  readonly covers: readonly WatchedCover[]
  /** Covers were lost and are there again. The microseconds for which the last of them was missing; 0: it is not known. */
  readonly onExposed: (indices: readonly number[], microseconds: number) => void
  /** A cover was lost, and the sandbox has been killed; `undefined`: nothing watches, as the keeper is gone or runs short. */
  readonly onLost: (index: number | undefined) => void
}

export interface Watch {
  /** Resolves when the late covers are there, or the sandbox has ended. */
  readonly covered: Promise<void>
  /** Looks a last time and ends the watch. When it resolves, earlier losses have been reported. */
  end(): Promise<void>
}
