import { constants } from 'node:fs'
import { chmod, chown, mkdtemp } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

import { paths, WorkspaceError } from '@ws/core'
import type { MountPath, Owner } from '@ws/core/adapter'
import { shortages } from '@ws/core/executor'

import { handleOf, release } from '../confine/handle.ts'
import type { Task } from '../confine/task.ts'
import { ownMark } from '../confine/temp.ts'
import { translate } from '../errors.ts'
import { calls } from '../host/blocking.ts'
import { identityOf } from '../host/calls.ts'
import { anyDirectory } from '../host/constants.ts'
import { RemovalProgress, removeEntry } from '../write/remove.ts'
import { lookAt } from '../write/target.ts'
import { leavePlace, openPlace, scratchPrefix } from './scratch-places.ts'

export interface PrivateOptions {
  /** The owner of the directory, if this process is root. */
  readonly owner: Owner
  readonly operation: string
  /** True if only this process's user must reach the directory. */
  readonly isClosed?: boolean
  /** Removes directories of ended processes from a place. */
  readonly sweep: (place: string) => Promise<void>
}

/** Makes an empty directory (0700) in the first usable place. */
export async function makePrivate(
  places: readonly string[],
  { owner, operation, isClosed = false, sweep }: PrivateOptions,
): Promise<string> {
  let problem: unknown
  for (const place of places) {
    try {
      await sweep(place)
      const parent = await openPlace(place)
      if (!isClosed && !(await isOpenToAll(parent))) continue
      const root = await mkdtemp(join(parent, `${scratchPrefix}${ownMark()}-`))
      await chmod(root, 0o700)
      if (process.getuid?.() === 0) await chown(root, owner.uid, owner.gid)
      return root
    } catch (error) {
      // another place would fail too
      if (shortages.of(error)?.code === 'EIO') throw translate(error, { operation, path: paths.mountRoot })
      problem = error
    }
  }
  if (shortages.of(problem) !== undefined) throw translate(problem, { operation, path: paths.mountRoot })
  throw new WorkspaceError({
    code: 'EBACKEND',
    operation,
    reason: 'no directory for temporary files can be used',
    remedy: 'set TMPDIR to a directory that the owner can reach',
    native: problem,
  })
}

/** Whether other users can reach a directory. Always true unless this process is root. */
async function isOpenToAll(directory: string): Promise<boolean> {
  if (process.getuid?.() !== 0) return true
  for (let at = directory; ; at = dirname(at)) {
    if ((Number((await calls.lstat(at)).mode) & constants.S_IXOTH) === 0) return false
    if (at === '/') return true
  }
}

/** Removes a private directory with everything in it, unless another entry has its place. */
export async function removePrivate(task: Task, root: string, identity: string): Promise<void> {
  const above = dirname(root)
  const parent = task.tree.verified ? handleOf(await calls.open(above, anyDirectory)) : { fd: -1, self: above }
  try {
    const name = basename(root)
    const found = await lookAt(task, parent, name)
    if (found === undefined || identityOf(found) !== identity) return // another process has removed it, or put something else there
    const progress = new RemovalProgress(task, '/' as MountPath, { unlock: true })
    await removeEntry(task, parent, name, progress)
  } catch (error) {
    throw translate(error, { operation: 'close', path: paths.mountRoot })
  } finally {
    await release(task, parent)
    await leavePlace(above)
  }
}
