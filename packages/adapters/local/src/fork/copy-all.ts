import { type FileType, paths } from '@ws/core'
import { concurrency, type MountPath } from '@ws/core/adapter'
import { Reserve } from '@ws/sandbox'

import { Descent } from '../confine/descent.ts'
import { type Handle, openChild, release, statusOf } from '../confine/handle.ts'
import { isReserved, isTempName } from '../confine/hidden.ts'
import { changing } from '../confine/open.ts'
import { typeOf } from '../confine/status.ts'
import { type Task, targetOf } from '../confine/task.ts'
import { nativeCode, translate } from '../errors.ts'
import { type HostName, type Maybe, type Status, identityOf, isImmediate, pathOfDescriptor } from '../host/calls.ts'
import { creating } from '../host/constants.ts'
import { replacement, showBytes, under } from '../host/name.ts'
import { slowMountCalls } from '../host/engine.ts'
import { isTurnOver, ownTurn } from '../host/pace.ts'
import { openWithPatience } from '../read/open-file.ts'
import { copyBytes } from '../write/copy-entry.ts'
import { ownUser } from '../root/owner.ts'
import { readingEntry } from '../worker/copy-small.ts'
import { Crew } from './crew.ts'
import { giveState, giveStateToFile } from './give-state.ts'

/** Files and directories in work at once. */
const parallel = 8
/** Limit of attempts to copy an entry that other processes exchange or write. */
const attempts = 8
/** Number of files from which threads are started for the rest. */
const fewFiles = 200

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

interface Listed {
  readonly name: HostName
  readonly type: FileType
}

interface Child {
  readonly level: Level
  readonly path: MountPath
  readonly name: HostName
  /** The host path of the copy, below the descriptor of the top. */
  readonly place: HostName
}

interface Level extends Pick<Child, 'path' | 'place'> {
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

/**
 * Copies a directory by descriptors. Entries keep mode, owner, times (in microseconds) and hard links, and holes stay holes. Leaves out
 * FIFOs, sockets, devices, extended attributes, access lists, other mounts, and this library's temporary and reserved names.
 */
export class CopyAll {
  readonly #task: Task
  readonly #from: Descent
  readonly #to: Descent
  readonly #top: Level
  readonly #levels: Level[] = []
  readonly #mounts: ReadonlySet<string>
  readonly #links = new Map<string, Promise<Linked>>()
  readonly #jobs = new Set<Promise<void>>()
  readonly #kept: number
  #failure: { readonly error: unknown } | undefined
  #files = 0
  #crew: Crew | undefined

  /**
   * @param target an empty directory that no other user can reach
   * @param kept the permission bits that the umask leaves there
   */
  constructor(
    task: Task,
    source: Handle,
    target: Handle,
    { status, kept }: { readonly status: Status; readonly kept: number },
  ) {
    this.#task = task
    this.#from = new Descent(task, source)
    this.#to = new Descent(task, target)
    this.#mounts = new Set(task.tree.mounts.all())
    this.#kept = kept
    this.#top = { path: paths.mountRoot, place: target.self, status, from: source, to: target, below: [] }
  }

  /** Leaves the marks of the top to the caller. */
  async run(): Promise<void> {
    try {
      await (await this.#begin(this.#top)).copying
      this.#levels.push(this.#top)
      for (let last = this.#levels.at(-1); last !== undefined; last = this.#levels.at(-1)) {
        if (this.#failure !== undefined) break
        const name = last.below.pop()
        if (name !== undefined)
          await this.#copy({ ...last, from: this.#from.last, to: this.#to.last }, name, 'directory')
        else await this.#leave(last)
      }
    } finally {
      await Promise.all(this.#jobs)
      await this.#crew?.end()
      await this.#from.end()
      await this.#to.end()
    }
    if (this.#failure !== undefined) throw this.#failure.error
  }

  /** Reads a directory, and begins to copy its files and links. Its directories are noted. */
  async #begin(level: Level): Promise<{ readonly copying: Promise<void> }> {
    const plain: string[] = []
    const others: Listed[] = []
    const mayBeSpecial = !Reserve.reservedNames.empty || this.#mounts.size > 0
    await this.#list(level.from, (name, type) => {
      if (type === 'directory') level.below.push(name)
      else if (type === 'file' && typeof name === 'string' && !mayBeSpecial) plain.push(name)
      else others.push({ name, type })
    })
    level.below.reverse()
    this.#files += plain.length
    if (this.#files > fewFiles && this.#task.tree.verified && this.#task.calls !== slowMountCalls)
      this.#crew ??= new Crew(this.#task)
    const copying = this.#copyFiles(level, plain, others)
    copying.catch(() => undefined) // the caller awaits it later
    return { copying }
  }

  async #copyFiles(level: Level, plain: readonly string[], others: readonly Listed[]): Promise<void> {
    const { uid, gid } = ownUser()
    const batch = {
      names: plain,
      from: level.from.self,
      to: level.to.self,
      device: this.#top.status.dev,
      kept: this.#kept,
    }
    this.#task.signal?.throwIfAborted()
    const rest = this.#crew === undefined ? plain : await this.#crew.copy({ ...batch, uid, gid })
    const listed = [...rest.map((name): Listed => ({ name, type: 'file' })), ...others]
    await concurrency.forEachOf(listed, parallel, async ({ name, type }) => {
      this.#task.signal?.throwIfAborted()
      await ownTurn()
      await this.#copy(level, name, type)
    })
  }

  async #list(directory: Handle, take: (name: HostName, type: FileType) => void): Promise<void> {
    const { calls, signal } = this.#task
    for (const encoding of ['utf8', 'buffer'] as const) {
      let doubtful = false
      const listing = await calls.openListing(directory.self, encoding)
      try {
        for (;;) {
          if (isTurnOver()) await ownTurn()
          signal?.throwIfAborted()
          const dirent = isImmediate(calls) ? listing.readSync() : await calls.readListing(listing)
          if (dirent === null) break
          const name = dirent.name as HostName
          const isDoubtful = String(name).includes(replacement)
          doubtful ||= isDoubtful
          // names that may not be valid text wait for the second pass
          if (isDoubtful === (encoding === 'buffer') && !isTempName(String(name))) take(name, typeOf(dirent))
        }
      } finally {
        await calls.closeListing(listing)
      }
      if (!doubtful) return
    }
  }

  async #copy(level: Level, name: HostName, listed: FileType): Promise<void> {
    const path = paths.child(level.path, typeof name === 'string' ? name : showBytes(name))
    const child: Child = { level, path, name, place: under(level.place, name) }
    try {
      let type: FileType | undefined = listed
      for (let attempt = 0; attempt < attempts; attempt += 1) {
        if (type === undefined || type === 'other') return // it vanished meanwhile, or cannot be copied
        if (type === 'directory' && listed !== type && level === this.#top) return void level.below.push(name)
        const copied = type === 'directory' ? this.#enter : type === 'symlink' ? this.#copyLink : this.#copyRegular
        if (await copied.call(this, child)) return
        const found = await this.#task.calls.lookUp(under(level.from.self, name))
        type = found && typeOf(found)
      }
      throw changing(targetOf(this.#task, path))
    } catch (error) {
      throw translate(error, { operation: this.#task.operation, path })
    }
  }

  /** Copies a directory's own entry, and begins with its entries. Returns false, as the next two, if another entry is there now. */
  async #enter({ level: { from, to }, path, name, place }: Child): Promise<boolean> {
    const task = this.#task
    const handle = await unlessExchanged(() => openChild(task, from, name, { directory: true }))
    if (handle === undefined) return false
    const status = await statusOf(task, handle)
    if (this.#isLeftOut(path, status, handle.self)) {
      await release(task, handle)
      return true
    }
    await task.calls.mkdir(under(to.self, name), 0o700)
    const level: Level = {
      path,
      place,
      status,
      from: handle,
      to: await openChild(task, to, name, { directory: true }),
      below: [],
    }
    const { copying } = await this.#begin(level)
    if (level.below.length === 0) {
      await this.#add(
        copying
          .then(() => giveState(task, level.to, status))
          .finally(async () => {
            await release(task, level.from)
            await release(task, level.to)
          }),
      )
      return true
    }
    await this.#from.enter(level.from)
    await this.#to.enter(level.to)
    this.#levels.push(level)
    await copying
    return true
  }

  async #leave({ status }: Level): Promise<void> {
    this.#levels.pop()
    if (this.#levels.length === 0) return
    await giveState(this.#task, this.#to.last, status)
    await this.#from.leave()
    await this.#to.leave()
  }

  /** Lets a directory without directories go on by itself. */
  async #add(work: Promise<void>): Promise<void> {
    const job: Promise<void> = work
      .catch((error: unknown) => {
        this.#failure ??= { error }
      })
      .finally(() => this.#jobs.delete(job))
    this.#jobs.add(job)
    if (this.#jobs.size >= parallel) await Promise.race(this.#jobs)
  }

  async #copyLink({ level: { from, to }, path, name }: Child): Promise<boolean> {
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

  async #copyRegular(child: Child): Promise<boolean> {
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
    return (
      isReserved(status, self) ||
      status.dev !== this.#top.status.dev ||
      this.#mounts.has(this.#task.tree.hostPath(path))
    )
  }
}
