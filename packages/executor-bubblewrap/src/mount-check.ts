import { lstatSync } from 'node:fs'

import type { WorkspaceError } from '@ws/core'
import { execError, type HostPath } from '@ws/core/executor'
import { doubtOwnMounts, readMountInfo } from '@ws/process'

import type { SandboxCommand } from './arguments.ts'
import type { Child } from './first-child.ts'
import type { Placement } from './layout.ts'
import { findMisplaced } from './mount-table.ts'
import type { MountedSource } from './sources.ts'

/**
 * Compares the mounts of a sandbox with its plan.
 *
 * The expected mounts are found beforehand, since the command waits for the comparison. Only bubblewrap and the first process
 * run when it is made, so the mounts stay as they are then.
 *
 * @returns what compares: it throws `EBUSY` for what was exchanged, `ENOEXEC` where nothing can be read
 */
export function mountCheck({ layout, sources, reserved }: SandboxCommand): (child: Child) => void {
  const placements = layout.placements.filter(({ beneath }) => beneath !== undefined)
  if (placements.length === 0) return () => undefined
  const expected = new Map<unknown, MountedSource | undefined>()
  for (const placement of placements)
    if (placement.source !== undefined) expected.set(placement, sources.mounted(placement.source))
  return ({ pid }) => {
    let table: string
    try {
      table = readMountInfo(pid)
    } catch (native) {
      throw execError('ENOEXEC', 'the sandbox cannot be examined', { native })
    }
    const misplaced =
      findMisplaced(table, placements, (placement) => expected.get(placement)) ??
      placements.find(({ beneath = '' as HostPath }) => reserved.has(beneath) && !isStill(beneath, reserved))
    if (misplaced === undefined) return
    // It may have been the host's own mounts that changed.
    doubtOwnMounts()
    throw exchanged(misplaced)
  }
}

/** The name is still that of the directory which was reserved for it. */
export function isStill(path: HostPath, reserved: ReadonlyMap<HostPath, string>): boolean {
  const status = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  return status !== undefined && `${status.dev}:${status.ino}` === reserved.get(path)
}

function exchanged(misplaced: Placement): WorkspaceError {
  return execError('EBUSY', 'was exchanged while the sandbox was being built', {
    path: misplaced.virtual,
    remedy: 'run the command again when nothing changes the workspace',
  })
}
