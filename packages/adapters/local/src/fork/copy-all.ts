import { type FileType, paths } from '@ws/core'
import { concurrency, type MountPath } from '@ws/core/adapter'
import { Reserve } from '@ws/sandbox'

import { Descent } from '../confine/descent.ts'
import { type Handle, openChild, release, statusOf } from '../confine/handle.ts'
import { isReserved, isTempName } from '../confine/hidden.ts'
import { changing } from '../confine/open.ts'
import { typeOf } from '../confine/status.ts'
import { type Task, targetOf } from '../confine/task.ts'
import { translate } from '../errors.ts'
import { type HostName, type Status, isImmediate } from '../host/calls.ts'
import { slowMountCalls } from '../host/engine.ts'
import { replacement, showBytes, under } from '../host/name.ts'
import { isTurnOver, ownTurn } from '../host/pace.ts'
import { ownUser } from '../root/owner.ts'
import { attempts, type Child, EntryCopies, type Level, unlessExchanged } from './copy-entries.ts'
import { Crew } from './crew.ts'
import { giveState } from './give-state.ts'

/** Files and directories in work at once. */
const parallel = 8
/** Number of files from which threads are started for the rest. */
const fewFiles = 200

interface Listed {
  readonly name: HostName
  readonly type: FileType
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
  readonly #entries: EntryCopies
  readonly #jobs = new Set<Promise<void>>()
  readonly #kept: number
  #failure: { readonly error: unknown } | undefined
  #files = 0
  #crew: Crew | undefined

  /** @param target an empty directory that no other user can reach, where the umask leaves the permission bits `kept` */
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
    this.#entries = new EntryCopies(task, (path, seen, self) => this.#isLeftOut(path, seen, self))
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
        if (type === 'directory' && listed !== type) return void level.below.push(name)
        const work =
          type === 'directory'
            ? this.#enter(child)
            : type === 'symlink'
              ? this.#entries.copyLink(child)
              : this.#entries.copyRegular(child)
        if (await work) return
        const found = await this.#task.calls.lookUp(under(level.from.self, name))
        type = found && typeOf(found)
      }
      throw changing(targetOf(this.#task, path))
    } catch (error) {
      throw translate(error, { operation: this.#task.operation, path })
    }
  }

  /** Copies a directory's own entry, and begins with its entries. Returns false if another entry is there now. */
  async #enter({ level: { from, to }, path, name, place }: Child): Promise<boolean> {
    const task = this.#task
    const handle = await unlessExchanged(() => openChild(task, from, name, { directory: true }))
    if (handle === undefined) return false
    const status = await statusOf(task, handle)
    if (this.#isLeftOut(path, status, handle.self)) {
      await release(task, handle)
      return true
    }
    const level = await this.#open({ path, place, status, from: handle, below: [] }, to, name)
    const { copying } = await this.#begin(level).catch(async (error: unknown) => {
      await release(task, level.from)
      await release(task, level.to)
      throw error
    })
    if (level.below.length === 0) {
      await this.#add(this.#finish(level, copying))
      return true
    }
    await this.#from.enter(level.from)
    await this.#to.enter(level.to)
    this.#levels.push(level)
    await copying
    return true
  }

  async #open(level: Omit<Level, 'to'>, parent: Handle, name: HostName): Promise<Level> {
    const { calls } = this.#task
    try {
      await calls.mkdir(under(parent.self, name), 0o700)
      return { ...level, to: await openChild(this.#task, parent, name, { directory: true }) }
    } catch (error) {
      await release(this.#task, level.from)
      throw error
    }
  }

  async #finish({ path, from, to, status, below }: Level, copying: Promise<void>): Promise<void> {
    try {
      await copying
      if (below.length > 0) throw changing(targetOf(this.#task, path)) // a file became a directory
      await giveState(this.#task, to, status)
    } finally {
      await release(this.#task, from)
      await release(this.#task, to)
    }
  }

  async #leave({ status }: Level): Promise<void> {
    this.#levels.pop()
    if (this.#levels.length === 0) return
    await giveState(this.#task, this.#to.last, status)
    await this.#from.leave()
    await this.#to.leave()
  }

  /** Starts work beside the walk. */
  async #add(work: Promise<void>): Promise<void> {
    const job: Promise<void> = work
      .catch((error: unknown) => {
        this.#failure ??= { error }
      })
      .finally(() => this.#jobs.delete(job))
    this.#jobs.add(job)
    if (this.#jobs.size >= parallel) await Promise.race(this.#jobs)
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
