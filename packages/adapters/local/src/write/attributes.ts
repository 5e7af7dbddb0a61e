import { setTimeout as sleep } from 'node:timers/promises'

import type { Times } from '@ws/core/adapter'

import { type Handle, openData, release, statusOf } from '../confine/handle.ts'
import { changing, notAFile, openEntry } from '../confine/open.ts'
import { isReserved } from '../confine/hidden.ts'
import { type Target, type Task, targetOf } from '../confine/task.ts'
import { throwLink } from '../confine/walk.ts'
import { contractFailure, failure, translate } from '../errors.ts'
import type { Status } from '../host/calls.ts'
import { reading } from '../host/constants.ts'
import { withLocks } from './locks.ts'

/** Limit of attempts to open an entry that was a link a moment ago. */
const attempts = 8
/** Limit of attempts of a change, a millisecond apart, until the file system's clock advances. */
const ticks = 50
/** Milliseconds by which a file system may round a time. */
const roundingMs = 2_000
/** Half a microsecond in seconds: the kernel truncates to microseconds, and a double is not exact. */
const halfMicrosecond = 5e-7

export async function changeMode(task: Task, mode: number): Promise<void> {
  await changeEntry(task, async (entry, before) => {
    // A directory keeps setgid and sticky bits, as with chmod(1); a file loses setuid and setgid.
    await entry.chmod(before.isDirectory() ? (Number(before.mode) & 0o7000) | mode : mode)
  })
}

export async function changeTimes(task: Task, { modifiedAt }: Times): Promise<void> {
  await changeEntry(task, async (entry, before) => {
    const accessed = Number(before.atimeNs) / 1e9 + halfMicrosecond
    await entry.utimes(accessed, modifiedAt / 1_000 + halfMicrosecond)
    const { mtimeNs } = await entry.status()
    if (Math.abs(Number(mtimeNs) / 1e6 - modifiedAt) <= roundingMs) return
    await entry.utimes(accessed, Number(before.mtimeNs) / 1e9)
    throw failure(task, 'EINVAL', 'cannot get that time: the file system does not hold it', {
      remedy: 'give a time nearer to the present',
    })
  })
}

interface Entry {
  chmod(mode: number): Promise<void>
  utimes(accessed: number, modified: number): Promise<void>
  status(): Promise<Status>
}

/** Changes the verified entry, even if another entry takes its name. */
async function changeEntry(task: Task, change: (entry: Entry, before: Status) => Promise<void>): Promise<void> {
  const target = targetOf(task, task.path)
  await withLocks([task.tree.hostPath(target.path)], async () => {
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      if (await changeOnce(task, target, change)) return
      await throwLink(task, target) // returns if the target is not a link any more
    }
    throw changing(target)
  })
}

/** Changes an entry. False for a link. */
async function changeOnce(
  task: Task,
  target: Target,
  change: (entry: Entry, before: Status) => Promise<void>,
): Promise<boolean> {
  const handle = await openEntry(task, target)
  try {
    const before = await statusOf(task, handle)
    if (before.isSymbolicLink()) return false
    refuse(target, handle, before)
    await withEntry(task, handle, async (entry) => {
      await change(entry, before)
      await makeDistinct(entry, before, () => change(entry, before))
    })
    return true
  } catch (error) {
    throw translate(error, target)
  } finally {
    await release(task, handle)
  }
}

function refuse(target: Target, { self }: Handle, status: Status): void {
  if (isReserved(status, self)) throw contractFailure(target, 'ENOENT')
  if (status.isDirectory()) return
  if (!status.isFile()) throw notAFile(target)
  if (status.nlink <= 1n) return
  // Another name of the file may be outside, or under a rule that forbids writing.
  throw failure(target, 'EBUSY', 'has several hard links, so that the change would show under other names too', {
    remedy: 'read it and write it as a whole: that gives this name a file of its own',
  })
}

async function withEntry(task: Task, handle: Handle, work: (entry: Entry) => Promise<void>): Promise<void> {
  const { calls, tree } = task
  if (tree.verified) {
    // The link in /proc leads to the entry itself, so no right to open the entry is needed.
    await work({
      chmod: async (mode) => calls.chmod(handle.self, mode),
      utimes: async (accessed, modified) => calls.utimes(handle.self, accessed, modified),
      status: async () => statusOf(task, handle),
    })
    return
  }
  const fd = await openData(task, handle, reading)
  try {
    await work({
      chmod: async (mode) => calls.fchmod(fd, mode),
      utimes: async (accessed, modified) => calls.futimes(fd, accessed, modified),
      status: async () => calls.fstat(fd),
    })
  } finally {
    await calls.close(fd)
  }
}

/** Repeats a change until the ctime differs: a version contains the ctime, and older kernels count in steps of 4 ms or more. */
async function makeDistinct(entry: Entry, before: Status, again: () => Promise<void>): Promise<void> {
  for (let tick = 0; tick < ticks; tick += 1) {
    if ((await entry.status()).ctimeNs > before.ctimeNs) return
    await sleep(1)
    await again()
  }
}
