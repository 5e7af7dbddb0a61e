import { WorkspaceError } from '@ws/core'
import type { NameKeeper } from '@ws/process'

import type { Placement } from './layout.ts'

/** Watches that what lies over protected parts stays there while a command runs. */
export interface MountWatch {
  /** Looks a last time. @throws WorkspaceError `EIO` when something was lost: the sandbox was killed for that. */
  end(): Promise<void>
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
  let problem: WorkspaceError | undefined
  const watch = keeper.watch({
    pid: child.pid,
    startTime: child.startTime ?? '',
    points: watched.map(({ at }) => Buffer.from(at).toString('latin1')),
    onLost(index) {
      problem = lostError(index === undefined ? undefined : watched[index])
      end()
    },
  })
  return {
    async end() {
      await watch.end()
      if (problem !== undefined) throw problem
    },
  }
}

function lostError(placement: Placement | undefined): WorkspaceError {
  if (placement === undefined) {
    return new WorkspaceError({
      code: 'EIO',
      operation: 'exec',
      reason: 'the command was ended, since the process that watches what rules protect was killed',
      remedy: 'run the command again',
    })
  }
  return new WorkspaceError({
    code: 'EIO',
    operation: 'exec',
    path: placement.virtual,
    rule: placement.rule,
    reason: 'was replaced from outside while the command ran, which was ended, since nothing protected it any more',
    remedy: 'run the command again',
  })
}
