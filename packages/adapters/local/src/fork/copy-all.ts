import { constants } from 'node:fs'

import { type FileType, paths } from '@ws/core'
import { concurrency, type MountPath } from '@ws/core/adapter'

import { Descent } from '../confine/descent.ts'
import { type Handle, openChild, release, statusOf } from '../confine/handle.ts'
import { isReserved, isTempName } from '../confine/hidden.ts'
import { changing } from '../confine/open.ts'
import { typeOf } from '../confine/status.ts'
import { type Task, targetOf } from '../confine/task.ts'
import { nativeCode, translate } from '../errors.ts'
import {
  type DirectoryEntry,
  type HostName,
  type Maybe,
  type Status,
  identityOf,
  pathOfDescriptor,
} from '../host/calls.ts'
import { creating, reading } from '../host/constants.ts'
import { replacement, showBytes, under } from '../host/name.ts'
import { ownTurn } from '../host/pace.ts'
import { openWithPatience } from '../read/open-file.ts'
import { copyBytes } from '../write/copy-entry.ts'
import { giveState, giveStateToFile } from './give-state.ts'

/** Files in work at once: libuv has four threads. */
const parallel = 4
/** Limit of attempts to copy an entry that other processes exchange or write. */
const attempts = 8
const readingEntry = reading | constants.O_NOFOLLOW // @defence `| constants.O_NOFOLLOW` a fork of a directory: a file that becomes a link

/** The failures of a call that met another kind of entry than the listing named. */
const exchanged: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ELOOP', 'ENOTDIR', 'EINVAL', 'ENXIO'])

async function unlessExchanged<Result>(call: () => Maybe<Result>): Promise<Result | undefined> {
  try {
    return await call()
  } catch (error) {
    if (exchanged.has(nativeCode(error))) return undefined
    throw error
  }
}

interface Child {
  readonly path: MountPath
  readonly name: HostName
  /** The host path of the copy, below the descriptor of the top. */
  readonly place: HostName
}

interface Level extends Omit<Child, 'name'> {
  readonly status: Status
  readonly below: HostName[]
}

/** The first copy of a file with several names. */
interface Linked {
  readonly place: HostName
  readonly identity: string
}

/**
 * Copies a directory by descriptors. Entries keep mode, owner, times (in microseconds) and hard links, and holes stay holes. Leaves out
 * FIFOs, sockets, devices, extended attributes, access lists, other mounts, and this library's temporary and reserved names.
 */
export class CopyAll {
  readonly #task: Task
  readonly #from: Descent
  readonly #to: Descent
  readonly #device: bigint
  readonly #mounts: ReadonlySet<string>
  readonly #links = new Map<string, Promise<Linked>>()
  readonly #levels: Level[] = []

  /** @param target an empty directory that no other user can reach */
  constructor(task: Task, source: Handle, target: Handle, status: Status) {
    this.#task = task
    this.#from = new Descent(task, source)
    this.#to = new Descent(task, target)
    this.#device = status.dev
    this.#mounts = new Set(task.tree.mounts.all())
    this.#levels.push({ path: paths.mountRoot, place: target.self, status, below: [] })
  }

  async run(): Promise<void> {
    try {
      await this.#copyListed()
      for (let last = this.#levels.at(-1); last !== undefined; last = this.#levels.at(-1)) {
        const name = last.below.pop()
        if (name !== undefined) await this.#copy(last, name, 'directory')
        else await this.#leave(last)
      }
    } finally {
      await this.#from.end()
      await this.#to.end()
    }
  }

  /** Copies the files and links of the last level. */
  async #copyListed(): Promise<void> {
    const level = this.#levels.at(-1)
    if (level === undefined) return
    await concurrency.forEachOf(this.#list(level), parallel, async (dirent) => {
      await this.#copy(level, dirent.name, dirent.isFile() ? 'file' : dirent.isSymbolicLink() ? 'symlink' : 'other')
    })
    level.below.reverse()
  }

  /** Yields entries that are not directories; directories are noted. */
  async *#list({ below }: Level): AsyncGenerator<DirectoryEntry> {
    const task = this.#task
    for (const encoding of ['utf8', 'buffer'] as const) {
      let doubtful = false
      const listing = await task.calls.openListing(this.#from.last.self, encoding)
      try {
        for (;;) {
          task.signal?.throwIfAborted()
          await ownTurn()
          const dirent = await task.calls.readListing(listing)
          if (dirent === null) break
          const isDoubtful = String(dirent.name).includes(replacement)
          doubtful ||= isDoubtful
          // names that may not be valid text wait for the second pass
          if (isDoubtful !== (encoding === 'buffer') || isTempName(String(dirent.name))) continue
          if (dirent.isDirectory()) below.push(dirent.name)
          else yield dirent
        }
      } finally {
        await task.calls.closeListing(listing)
      }
      if (!doubtful) return
    }
  }

  async #copy(level: Level, name: HostName, listed: FileType): Promise<void> {
    const path = paths.child(level.path, typeof name === 'string' ? name : showBytes(name))
    const child: Child = { path, name, place: under(level.place, name) }
    try {
      let type: FileType | undefined = listed
      for (let attempt = 0; attempt < attempts; attempt += 1) {
        if (type === undefined || type === 'other') return // it vanished meanwhile, or cannot be copied
        if (type === 'directory' && listed !== type) return void level.below.push(name)
        const copied = type === 'directory' ? this.#enter : type === 'symlink' ? this.#copyLink : this.#copyRegular
        if (await copied.call(this, child)) return
        const found = await this.#task.calls.lookUp(under(this.#from.last.self, name))
        type = found && typeOf(found)
      }
      throw changing(targetOf(this.#task, path))
    } catch (error) {
      throw translate(error, { operation: this.#task.operation, path })
    }
  }

  /** Returns false, as the next two, if the entry is gone or of another type now. */
  async #enter({ path, name, place }: Child): Promise<boolean> {
    const task = this.#task
    const handle = await unlessExchanged(() => openChild(task, this.#from.last, name, { directory: true }))
    if (handle === undefined) return false
    const status = await statusOf(task, handle)
    if (this.#isLeftOut(path, status, handle.self)) {
      await release(task, handle)
      return true
    }
    await this.#from.enter(handle)
    await task.calls.mkdir(under(this.#to.last.self, name), 0o700)
    await this.#to.enter(await openChild(task, this.#to.last, name, { directory: true }))
    this.#levels.push({ path, place, status, below: [] })
    await this.#copyListed()
    return true
  }

  async #leave({ status }: Level): Promise<void> {
    this.#levels.pop()
    if (this.#levels.length === 0) return // the caller finishes the top
    await giveState(this.#task, this.#to.last, status)
    await this.#from.leave()
    await this.#to.leave()
  }

  async #copyLink({ path, name }: Child): Promise<boolean> {
    const task = this.#task
    const source = under(this.#from.last.self, name)
    const status = await task.calls.lookUp(source)
    const target = await unlessExchanged(() => task.calls.readlink(source))
    if (status?.isSymbolicLink() !== true || target === undefined) return false
    if (this.#isLeftOut(path, status, String(source))) return true
    await task.calls.symlink(target, under(this.#to.last.self, name))
    if (!task.tree.verified) return true // without `/proc`, a link's owner and times cannot be set safely
    const copy = await openChild(task, this.#to.last, name)
    try {
      await giveState(task, copy, status)
    } finally {
      await release(task, copy)
    }
    return true
  }

  async #copyRegular(child: Child): Promise<boolean> {
    const { path, name } = child
    const task = this.#task
    const { calls } = task
    const source = under(this.#from.last.self, name)
    const to = under(this.#to.last.self, name)
    const open = async (): Promise<number> => calls.open(source, readingEntry)
    const from = await unlessExchanged(() => openWithPatience(task, open))
    if (from === undefined) return false
    try {
      const status = await calls.fstat(from)
      if (!status.isFile()) return false
      if (this.#isLeftOut(path, status, pathOfDescriptor(from))) return true
      // an inode that another file has by now is no link
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

  /** True for this library's own entries and for what is mounted over the tree. */
  #isLeftOut(path: MountPath, status: Status, self: string): boolean {
    return isReserved(status, self) || status.dev !== this.#device || this.#mounts.has(this.#task.tree.hostPath(path))
  }
}
