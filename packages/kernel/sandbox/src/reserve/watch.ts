export interface WatchedCover {
  readonly point: string
  /** The kind of the cover. A lost cover of kind `other` is not restored. */
  readonly kind: 'file' | 'directory' | 'empty' | 'read-only' | 'writable' | 'other'
  readonly isLate?: boolean | undefined
}

export interface WatchRequest {
  /** The first process of the sandbox. */
  readonly pid: number
  readonly startTime: string
  /** The owner of the sandbox, if this process may become that user. */
  readonly owner: { readonly uid: number; readonly gid: number }
  readonly ends: boolean
  /** Other paths at which the sandbox's tree appears, with the same covers. */
  readonly aliases: readonly string[]
  readonly covers: readonly WatchedCover[]
  /** Called after covers were lost and restored. `microseconds`: how long the last cover was missing; 0 if unknown. */
  readonly onExposed: (indices: readonly number[], microseconds: number) => void
  /** Called if a cover was lost and the sandbox was killed. `undefined` means that the watch failed for lack of a keeper or resources. */
  readonly onLost: (index: number | undefined) => void
}

export interface Watch {
  /** Resolves when the late covers are in place, or the sandbox has ended. */
  readonly covered: Promise<void>
  /** Checks one last time, reports all earlier losses, and ends the watch. */
  end(): Promise<void>
}
