import { type Handle, openChild, release, statusOf } from '../confine/handle.ts'
import type { Task } from '../confine/task.ts'
import type { HostName, Status } from '../host/calls.ts'

/** Milliseconds by which a file system's clock may be behind this machine's clock. */
const clockSlackMs = 100

/** Gives a file that was created through this descriptor to the owner. */
export async function giveFile({ tree, calls }: Task, fd: number): Promise<void> {
  if (tree.giveTo !== undefined) await calls.fchown(fd, tree.giveTo.uid, tree.giveTo.gid)
}

/** A time before a creation, in milliseconds since the epoch, for {@link giveNew}. */
export function creationStart(): number {
  return Date.now() - clockSlackMs
}

/** Gives a new directory or link to the owner. The entry must be new and this user's: another entry may have taken the name. */
export async function giveNew(
  task: Task,
  directory: Handle,
  name: HostName,
  start: number,
  kind: 'directory' | 'symlink',
): Promise<void> {
  const { giveTo } = task.tree
  if (giveTo === undefined) return
  const handle = await openChild(task, directory, name)
  try {
    const status = await statusOf(task, handle)
    const isKind = kind === 'directory' ? status.isDirectory() : status.isSymbolicLink()
    if (!isKind || !isOursAndNew(status, start)) return
    // the link in /proc leads to the entry itself, and a symbolic link there is not followed
    if (task.tree.verified) await task.calls.chown(handle.self, giveTo.uid, giveTo.gid)
  } finally {
    await release(task, handle)
  }
}

function isOursAndNew({ uid, birthtimeMs, ctimeMs }: Status, start: number): boolean {
  const born = birthtimeMs > 0n ? birthtimeMs : ctimeMs // some file systems do not report it
  return Number(uid) === process.getuid?.() && born >= start
}
