export interface WatchedCover {
  readonly point: string
  /** `other` is not put back when lost. */
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
  /** Where its tree appears again, with the same covers. */
  readonly aliases: readonly string[]
  readonly covers: readonly WatchedCover[]
  /** Covers were lost and put back. Microseconds of the last one's absence; 0: unknown. */
  readonly onExposed: (indices: readonly number[], microseconds: number) => void
  /** A cover was lost, and the sandbox killed; `undefined`: nothing watches, without a keeper or in a shortage. */
  readonly onLost: (index: number | undefined) => void
}

export interface Watch {
  /** Resolves with the late covers, or at the sandbox's end. */
  readonly covered: Promise<void>
  /** Looks a last time and ends the watch, with all earlier losses reported. */
  end(): Promise<void>
}
