import type { FileType, SignalOption } from './file-types.ts'
import type { MountPath, VirtualPath } from '../path/virtual-path.ts'

export interface WatchOptions extends SignalOption {
  /** Also watch all entries below a directory. False: only the directory itself and its own entries. Default true. */
  readonly recursive?: boolean | undefined
  /**
   * Milliseconds between two looks for changes by other programs, and by commands that still run. A long look makes the pause longer.
   * Default 1,000. Default 30,000 if a store gives no hints: each look then lists the watched part of the store.
   */
  readonly interval?: number | undefined
  /** Maximum number of waiting events, at most 100,000. Default 10,000. */
  readonly maxPending?: number | undefined
}

/**
 * A change of one entry. A move is `deleted` at one path and `created` at the other. An entry that becomes another type is `deleted`, then
 * `created`. A file or link is `changed` by content, mode or times; a directory only by its mode. Several changes between two looks are one.
 *
 * `overflow`: there may be untold changes at or below `path`. Look at the files there again. Later events count from that look.
 */
export type WatchEvent =
  | { readonly kind: 'created' | 'changed' | 'deleted'; readonly path: VirtualPath; readonly type: FileType }
  | { readonly kind: 'overflow'; readonly path: VirtualPath }

/** Options of an adapter's `watch`. */
export interface HintOptions extends SignalOption {
  /** False: hints only for the path itself, the entries in it and the directories above. Default true. */
  readonly recursive?: boolean | undefined
  /** Called when there are new hints. An adapter need not call it: the caller also asks from time to time. Must not throw. */
  readonly onHint?: (() => void) | undefined
}

/** Reports where a store may have changed, by any writer. Hints only say where to look: an equal state there is allowed. */
export interface ChangeHints {
  /**
   * Returns the paths at or below which entries may have changed since the last call, or since the watch began. Includes every change that
   * ended before this call. `undefined`: anything may have changed. Changes after this call are in the next result.
   * A path also stands for the directories above that appeared or vanished together with the entry.
   */
  take(): Promise<ReadonlySet<MountPath> | undefined>
  /** Releases the resources of the watch. */
  close(): void
}
