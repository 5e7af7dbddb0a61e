import type { VirtualPath } from '@ws/core'
import type { NameKeeper } from '@ws/sandbox'

import type { Placement } from './layout.ts'

/** The sandbox was killed: the cover of a path is gone, or nothing watches it any more. */
export interface Lost {
  readonly at: { readonly path: VirtualPath; readonly rule: string | undefined } | undefined
}

/** Watches that what lies over protected parts stays there while a command runs. */
export interface MountWatch {
  /** Looks a last time. */
  end(): Promise<Lost | undefined>
}

export interface WatchOptions {
  readonly keeper: NameKeeper
  /** The first process of the sandbox. */
  readonly child: { readonly pid: number; readonly startTime: string | undefined }
  readonly placements: readonly Placement[]
  /** Ends the sandbox. */
  readonly end: () => void
}

/** @throws WorkspaceError `EUNENFORCEABLE` where nothing can be watched */
export function watchMounts({ keeper, child, placements, end }: WatchOptions): MountWatch | undefined {
  const watched = placements.filter(({ beneath }) => beneath !== undefined)
  if (watched.length === 0) return undefined
  let lost: Lost | undefined
  const watch = keeper.watch({
    pid: child.pid,
    startTime: child.startTime ?? '',
    points: watched.map(({ at }) => Buffer.from(at).toString('latin1')),
    onLost(index) {
      const placement = index === undefined ? undefined : watched[index]
      lost = { at: placement && { path: placement.virtual, rule: placement.rule } }
      end()
    },
  })
  return {
    async end() {
      await watch.end()
      return lost
    },
  }
}
