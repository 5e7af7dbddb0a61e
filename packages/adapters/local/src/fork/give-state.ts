import type { Handle } from '../confine/handle.ts'
import type { Task } from '../confine/task.ts'
import { nativeCode } from '../errors.ts'
import type { Calls, Status } from '../host/calls.ts'
import { ownUser } from '../root/owner.ts'

/** Half a microsecond in seconds: the kernel truncates to microseconds, and a double is not exact. */
const halfMicrosecond = 5e-7
const permissions = 0o7777

/** Gives an entry that this process made the owner, mode and times of another entry. */
export async function giveState({ calls }: Task, { self }: Handle, status: Status): Promise<void> {
  await giveOwner(status, (uid, gid) => calls.chown(self, uid, gid))
  if (!status.isSymbolicLink()) await calls.chmod(self, Number(status.mode) & permissions)
  await calls.utimes(self, secondsOf(status.atimeNs), secondsOf(status.mtimeNs))
}

export async function giveStateToFile(calls: Calls, fd: number, status: Status): Promise<void> {
  await giveOwner(status, (uid, gid) => calls.fchown(fd, uid, gid))
  await calls.fchmod(fd, Number(status.mode) & permissions)
  await calls.futimes(fd, secondsOf(status.atimeNs), secondsOf(status.mtimeNs))
}

async function giveOwner(status: Status, chown: (uid: number, gid: number) => void | Promise<void>): Promise<void> {
  const own = ownUser()
  const [uid, gid] = [Number(status.uid), Number(status.gid)]
  if (uid === own.uid && gid === own.gid) return
  try {
    await chown(uid, gid)
  } catch (error) {
    // only root can give files away: the copy of another user's file belongs to this user
    if (own.uid === 0 || nativeCode(error) !== 'EPERM') throw error
  }
}

function secondsOf(ns: bigint): number {
  return Number(ns / 1_000n) / 1e6 + halfMicrosecond
}
