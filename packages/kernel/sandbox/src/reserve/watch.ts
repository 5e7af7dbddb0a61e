export interface WatchedCover {
  readonly point: string
  /** Kinds of covers. A lost cover of kind `other` is not restored. */
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
  /** Paths where the sandbox's tree appears again, with the same covers. */
  readonly aliases: readonly string[]
  readonly covers: readonly WatchedCover[]
  /** Called after covers were lost and restored. `microseconds`: how long the last cover was absent; 0: unknown. */
  readonly onExposed: (indices: readonly number[], microseconds: number) => void
  /** Called if a cover was lost and the sandbox killed. `undefined`: the watch has failed, for lack of a keeper or of resources. */
  readonly onLost: (index: number | undefined) => void
}

export interface Watch {
  /** Resolves when the late covers are in place, or at the sandbox's end. */
  readonly covered: Promise<void>
  /** Checks a last time and ends the watch, after reporting all earlier losses. */
  end(): Promise<void>
}
