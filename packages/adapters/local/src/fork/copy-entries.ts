import type { MountPath } from '@ws/core/adapter'

import { type Handle, openChild, release } from '../confine/handle.ts'
import { changing } from '../confine/open.ts'
import { type Task, targetOf } from '../confine/task.ts'
import { nativeCode } from '../errors.ts'
import { type HostName, type Maybe, type Status, identityOf, pathOfDescriptor } from '../host/calls.ts'
import { creating } from '../host/constants.ts'
import { under } from '../host/name.ts'
import { openWithPatience } from '../read/open-file.ts'
import { readingEntry } from '../worker/copy-small.ts'
import { copyBytes } from '../write/copy-entry.ts'
import { giveState, giveStateToFile } from './give-state.ts'

/** Limit of attempts to copy an entry that other processes exchange or write. */
export const attempts = 8

/** The failures of a call that met another kind of entry than the listing named. */
const exchanged: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ELOOP', 'ENOTDIR', 'EINVAL', 'ENXIO'])

/** `undefined` if another entry took the place of the one that was listed. */
export async function unlessExchanged<Result>(call: () => Maybe<Result>): Promise<Result | undefined> {
  try {
    return await call()
  } catch (error) {
    if (exchanged.has(nativeCode(error))) return undefined
    throw error
  }
}

export interface Child {
  readonly level: Level
  readonly path: MountPath
  readonly name: HostName
  /** The host path of the copy, below the descriptor of the top. */
  readonly place: HostName
}

export interface Level extends Pick<Child, 'path' | 'place'> {
  readonly status: Status
  readonly from: Handle
  readonly to: Handle
  readonly below: HostName[]
}

/** The first copy of a file with several names. */
interface Linked {
  readonly place: HostName
  readonly identity: string
}

/** Copies files and links by descriptors, with their marks. */
export class EntryCopies {
  readonly #task: Task
  readonly #isLeftOut: (path: MountPath, status: Status, self: string) => boolean
  readonly #links = new Map<string, Promise<Linked>>()

  constructor(task: Task, isLeftOut: (path: MountPath, status: Status, self: string) => boolean) {
    this.#task = task
    this.#isLeftOut = isLeftOut
  }

  /** Returns false, as the next, if another entry is there now. */
  async copyLink({ level: { from, to }, path, name }: Child): Promise<boolean> {
    const task = this.#task
    const source = under(from.self, name)
    const status = await task.calls.lookUp(source)
    const target = await unlessExchanged(() => task.calls.readlink(source))
    if (status?.isSymbolicLink() !== true || target === undefined) return false
    if (this.#isLeftOut(path, status, String(source))) return true
    await task.calls.symlink(target, under(to.self, name))
    if (!task.tree.verified) return true // without `/proc`, a link's owner and times cannot be set safely
    const copy = await openChild(task, to, name)
    try {
      await giveState(task, copy, status)
    } finally {
      await release(task, copy)
    }
    return true
  }

  async copyRegular(child: Child): Promise<boolean> {
    const { level, path, name } = child
    const task = this.#task
    const { calls } = task
    const source = under(level.from.self, name)
    const to = under(level.to.self, name)
    const open = async (): Promise<number> => calls.open(source, readingEntry)
    const from = await unlessExchanged(() => openWithPatience(task, open))
    if (from === undefined) return false
    try {
      const status = await calls.fstat(from)
      if (!status.isFile()) return false
      if (this.#isLeftOut(path, status, pathOfDescriptor(from))) return true
      // another file may have this inode by now: that is not a hard link
      const key = status.nlink === 1n ? undefined : `${identityOf(status)}:${status.size}:${status.mtimeNs}`
      const first = key === undefined ? undefined : this.#links.get(key)
      const filling = first ?? this.#fill(child, status, from, to)
      if (key !== undefined) this.#links.set(key, filling)
      const copied = await filling
      if (first !== undefined) await this.#addName(copied, to)
      return true
    } finally {
      await calls.close(from)
    }
  }

  /** Writes a copy of the file to a new name. A file that changes meanwhile is copied again. */
  async #fill({ path, place }: Child, status: Status, from: number, to: HostName): Promise<Linked> {
    const task = this.#task
    const { calls } = task
    const fd = await calls.open(to, creating, 0o600)
    try {
      let seen = status
      for (let attempt = 0; attempt < attempts; attempt += 1) {
        await copyBytes(task, from, fd, seen)
        const now = await calls.fstat(from)
        if (now.mtimeNs === seen.mtimeNs && now.size === seen.size) {
          await giveStateToFile(calls, fd, now)
          return { place, identity: status.nlink === 1n ? '' : identityOf(await calls.fstat(fd)) }
        }
        seen = now
        await calls.ftruncate(fd, 0)
      }
      throw changing(targetOf(task, path))
    } finally {
      await calls.close(fd)
    }
  }

  async #addName({ place, identity }: Linked, to: HostName): Promise<void> {
    const { calls } = this.#task
    await calls.link(place, to)
    if (identityOf(await calls.lstat(to)) === identity) return
    await calls.unlink(to)
    throw Object.assign(new Error('exchanged'), { code: 'EAGAIN', syscall: 'link' })
  }
}
