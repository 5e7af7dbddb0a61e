import type { Owner } from '@ws/core/adapter'

import type { Handle } from '../confine/handle.ts'
import type { Task } from '../confine/task.ts'
import { nativeCode } from '../errors.ts'
import type { Calls, Maybe, Status } from '../host/calls.ts'
import { ownUser } from '../root/owner.ts'
import { marksOf } from '../worker/copy-small.ts'

/** Gives an entry that this process made the owner, mode and times of another entry. */
export async function giveState({ calls }: Task, { self }: Handle, status: Status): Promise<void> {
  const { uid, gid, mode, accessed, modified } = marksOf(status)
  await giveOwner({ uid, gid }, () => calls.chown(self, uid, gid))
  if (!status.isSymbolicLink()) await calls.chmod(self, mode)
  await calls.utimes(self, accessed, modified)
}

export async function giveStateToFile(calls: Calls, fd: number, status: Status): Promise<void> {
  const { uid, gid, mode, accessed, modified } = marksOf(status)
  await giveOwner({ uid, gid }, () => calls.fchown(fd, uid, gid))
  await calls.fchmod(fd, mode)
  await calls.futimes(fd, accessed, modified)
}

async function giveOwner({ uid, gid }: Owner, chown: () => Maybe<void>): Promise<void> {
  const own = ownUser()
  if (uid === own.uid && gid === own.gid) return
  try {
    await chown()
  } catch (error) {
    // only root can give files away: the copy of another user's file belongs to this user
    if (own.uid === 0 || nativeCode(error) !== 'EPERM') throw error
  }
}
