import { type FileType, isWorkspaceError, paths } from '@ws/core'
import { LinkSignal, type Entry, type MountPath } from '@ws/core/adapter'
import type { EntryIterator, InnerListOptions } from '@ws/core/inner'

import { mostHeld } from '../confine/descent.ts'
import { type Handle, handleOf, openChild, release } from '../confine/handle.ts'
import { openDirectory } from '../confine/open.ts'
import { isReserved, isTempName } from '../confine/hidden.ts'
import { statOf } from '../confine/status.ts'
import { type Task, targetOf } from '../confine/task.ts'
import { nativeCode, translate } from '../errors.ts'
import {
  type DirectoryEntry,
  type HostName,
  type ImmediateCalls,
  type Maybe,
  type Status,
  isImmediate,
} from '../host/calls.ts'
import { anyDirectory } from '../host/constants.ts'
import { decodeName, replacement, showBytes, under } from '../host/name.ts'
import { isTurnOver, ownTurn, spend } from '../host/pace.ts'
import type { Held, Resources } from '../resources.ts'
import { sweep } from '../confine/temp.ts'
import {
  type Level,
  detailsAtOnce,
  isKnown,
  WholeListing,
  knownLevel,
  releasedHandle,
  levelOf,
  listWhole,
  mayBeReserved,
  mayHoldName,
  namesKnown,
  recorded,
  typeOfDirent,
} from './level.ts'

const sweptPerListing = 64
/** Number of entries between two readings of the clock. */
const entriesPerLook = 16

export interface ListingOptions extends InnerListOptions {
  readonly maxPathBytes: number
  readonly resources: Resources
  readonly begin: () => Task
}

/**
 * A listing without an async generator, which would be slower. A level reads 256 entries at once, and remembers unchanged directories.
 * The last levels keep their directories open. Distant levels are read to their end, closed, and reopened by verified paths.
 */
export class Listing implements EntryIterator, Held {
  readonly #options: ListingOptions
  readonly #excluded: ReadonlySet<string>
  readonly #levels: Level[] = []
  #task: Task | undefined
  #finished = false
  #abandoned: Error | undefined
  #tail: Promise<void> | undefined
  #heldBack: DirectoryEntry | undefined
  #untilLook = entriesPerLook
  #lookedAt = 0

  constructor(options: ListingOptions) {
    this.#options = options
    this.#excluded = new Set(options.exclude)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<Entry, undefined>> {
    const entry = this.nextNow()
    if (entry !== undefined) return Promise.resolve({ done: false, value: entry })
    return this.#inTurn(() => this.#advance())
  }

  nextNow(): Entry | undefined {
    return this.#tail === undefined ? this.#atOnce() : undefined
  }

  async return(): Promise<IteratorResult<Entry, undefined>> {
    return await this.#inTurn(async () => {
      await this.#finish()
      return { done: true, value: undefined }
    })
  }

  async abandon(reason: Error): Promise<void> {
    this.#abandoned = reason
    await this.return()
  }

  async #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const before = this.#tail
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#tail = promise
    await before
    try {
      return await work()
    } finally {
      // cleared before the caller sees the result, so that the next call does not wait
      if (this.#tail === promise) this.#tail = undefined
      resolve()
    }
  }

  /** The next entry without waiting. Unusual cases use {@link #advance}. */
  #atOnce(): Entry | undefined {
    for (;;) {
      const level = this.#levels.at(-1)
      const task = this.#task
      if (level === undefined || task === undefined || task.signal?.aborted === true) return
      const { calls } = task
      if (!isImmediate(calls) || level.handle === releasedHandle) return
      if (this.#heldBack !== undefined || level.asBytes || isTurnOver()) return
      this.#untilLook -= 1
      if (this.#untilLook === 0) this.#look()

      let dirent: DirectoryEntry | null
      try {
        dirent = level.listing.readSync()
      } catch {
        return // ignored here: the asynchronous listing makes the call again, and handles its error
      }
      if (dirent === null) {
        if (!this.#leaveAtOnce(calls, level)) return
        continue
      }
      try {
        if (mayHoldName(dirent) && this.#isHidden(task, level, dirent.name) === true) {
          this.#forget(level)
          continue
        }
      } catch {
        this.#heldBack = dirent // ignored here: the asynchronous listing checks the entry again, and handles the error
        return
      }
      const entry = this.#entryAtOnce(calls, level, dirent)
      if (entry !== undefined && this.#descendAtOnce(task, calls, level, entry)) return entry
      this.#heldBack = dirent
      return undefined
    }
  }

  /** Reports a directory with a hidden entry, which a later listing may show. */
  #forget({ path }: Level): void {
    this.#options.onHidden?.(path) // @defence a name that a rule by pattern denies or protects: a reserved name is hidden
  }

  /** True if an entry only reserves a name, or is gone. */
  #isHidden({ tree, calls }: Task, level: Level, name: HostName): Maybe<boolean> {
    // a known directory has no hidden entry
    if (isKnown(level)) return false
    if (!mayBeReserved(level, tree.hostPath(level.path), name)) return false
    const self = under(level.handle.self, name)
    const judge = (status: Status | undefined) => status === undefined || isReserved(status, String(self))
    const status = calls.lookUp(self)
    return status instanceof Promise ? status.then(judge) : judge(status)
  }

  #entryAtOnce(calls: ImmediateCalls, level: Level, dirent: DirectoryEntry): Entry | undefined {
    const { name } = dirent
    const path = paths.child(level.path, name)
    if (name.startsWith('.ws') || name.includes(replacement) || path.length >= 1_000) return undefined
    if (this.#options.details === true) return detailsAtOnce(calls, level, path, name)
    return { path, name, type: typeOfDirent(dirent) }
  }

  /** Enters a directory without waiting. Also true if the entry need not be entered. */
  #descendAtOnce(task: Task, calls: ImmediateCalls, level: Level, { path, name, type }: Entry): boolean {
    if (!this.#isEntered(path, type)) return true
    const { tree } = task
    if (!tree.verified || this.#levels.length >= mostHeld) return false
    let fd = -1
    try {
      const known = namesKnown(this.#options, task, path, (plain) => plain.lookUp(tree.hostPath(path)))
      if (known !== undefined) {
        this.#levels.push(knownLevel(path, known))
        return true
      }
      const place = isKnown(level) ? tree.shortcut(path) : under(level.handle.self, name)
      if (place === undefined) return false
      fd = calls.open(place, anyDirectory)
      if (isKnown(level) && !tree.isAt(fd, path)) throw new Error('exchanged')
      const handle = handleOf(fd)
      const names = namesKnown(this.#options, task, path, (plain) => plain.fstat(fd))
      if (names === undefined) {
        const listing = listWhole(task, handle) ?? recorded(task, handle, calls.openListing(handle.self, 'utf8'))
        this.#levels.push(levelOf(path, handle, listing))
      } else {
        calls.close(fd)
        this.#levels.push(knownLevel(path, names))
      }
      return true
    } catch {
      if (fd >= 0) calls.close(fd) // ignored here: the asynchronous listing gets the same error
      return false
    }
  }

  /** Leaves a level without waiting. The last level ends the listing, so {@link #advance} leaves it. */
  #leaveAtOnce(calls: ImmediateCalls, level: Level): boolean {
    const { doubtful, temps, listing, handle } = level
    if (doubtful || temps.length > 0 || this.#levels.length === 1) return false
    if (handle.fd < 0 && !isKnown(level)) return false
    this.#levels.pop()
    calls.closeListing(listing)
    if (handle.fd >= 0) calls.close(handle.fd)
    return true
  }

  #isEntered(path: MountPath, type: FileType): boolean {
    if (this.#options.recursive !== true || type !== 'directory') return false
    return !this.#excluded.has(path) && this.#options.skips?.(path) !== true
  }

  #look(): void {
    const now = performance.now()
    spend(Math.min(now - this.#lookedAt, 1))
    this.#lookedAt = now
    this.#untilLook = entriesPerLook
  }

  async #advance(): Promise<IteratorResult<Entry, undefined>> {
    if (this.#abandoned !== undefined) throw this.#abandoned
    if (this.#finished) return { done: true, value: undefined }
    try {
      this.#task ??= await this.#start()
      const entry = await this.#nextEntry(this.#task)
      if (entry !== undefined) return { done: false, value: entry }
    } catch (error) {
      await this.#finish()
      throw this.#task === undefined ? error : translate(error, this.#task)
    }
    await this.#finish()
    return { done: true, value: undefined }
  }

  async #start(): Promise<Task> {
    const { begin, resources } = this.#options
    const task = begin()
    resources.hold(this)
    try {
      await this.#enter(task, task.path, await openDirectory(task, targetOf(task, task.path)))
    } catch (error) {
      throw translate(error, task)
    }
    if (isExcluded(task.path, this.#excluded)) await this.#leave(task)
    this.#lookedAt = performance.now()
    return task
  }

  async #nextEntry(task: Task): Promise<Entry | undefined> {
    for (;;) {
      task.signal?.throwIfAborted()
      for (let turn = ownTurn(task.signal); turn !== undefined; turn = ownTurn()) await turn
      const level = this.#levels.at(-1)
      if (level === undefined) return undefined
      const dirent = this.#heldBack ?? (await this.#read(task, level))
      this.#heldBack = undefined
      if (level.handle === releasedHandle && (dirent !== null || level.doubtful) && !(await this.#takeUp(task, level)))
        continue
      if (dirent === null) {
        await this.#endOfListing(task, level)
        continue
      }
      const entry = await this.#entryOf(task, level, dirent)
      if (entry === undefined) continue
      await this.#descend(task, level, entry)
      return entry
    }
  }

  async #read(task: Task, { listing, path }: Level): Promise<DirectoryEntry | null> {
    try {
      return await task.calls.readListing(listing)
    } catch (error) {
      if (this.#levels.length === 1) throw error
      this.#pass(task, path, error)
      return null
    }
  }

  async #entryOf(task: Task, level: Level, dirent: DirectoryEntry): Promise<Entry | undefined> {
    const raw = dirent.name as HostName
    const name = typeof raw === 'string' ? raw : decodeName(raw)
    if (level.asBytes) {
      if (name !== undefined && !name.includes(replacement)) return undefined // the first pass listed this name
    } else if (name?.includes(replacement) === true) {
      level.doubtful = true
      this.#forget(level)
      return undefined
    }
    if (name !== undefined && isTempName(name)) {
      if (level.temps.length < sweptPerListing) level.temps.push(name)
      return undefined
    }
    if (mayHoldName(dirent) && (await this.#isHidden(task, level, raw))) {
      this.#forget(level)
      return undefined
    }
    return await this.#describe(task, level, { raw, name, type: typeOfDirent(dirent) })
  }

  async #describe(
    task: Task,
    level: Level,
    { raw, name, type }: { readonly raw: HostName; readonly name: string | undefined; readonly type: FileType },
  ): Promise<Entry | undefined> {
    const shown = name ?? showBytes(raw as Buffer)
    const path = paths.child(level.path, shown)
    const tooLong = path.length * 3 > this.#options.maxPathBytes && Buffer.byteLength(path) > this.#options.maxPathBytes
    const unreachable = name === undefined || tooLong ? ({ unreachable: true } as const) : {}
    if (this.#options.details !== true) return { path, name: shown, type, ...unreachable }
    let status: Status
    try {
      status = await task.calls.lstat(under(level.handle.self, raw))
    } catch (error) {
      if (nativeCode(error) === 'ENOENT') return undefined // it vanished meanwhile
      throw error
    }
    return { path, name: shown, ...statOf(status), ...unreachable }
  }

  async #descend(task: Task, level: Level, { path, name, type, unreachable }: Entry): Promise<void> {
    if (unreachable === true || !this.#isEntered(path, type)) return
    try {
      const handle = isKnown(level)
        ? await openDirectory(task, targetOf(task, path))
        : await openChild(task, level.handle, name, { directory: true })
      await this.#enter(task, path, handle)
    } catch (error) {
      this.#passUnlessGone(task, path, error)
    }
  }

  #passUnlessGone(task: Task, path: MountPath, error: unknown): void {
    if (error instanceof LinkSignal) return // the entry is a link by now
    const code = isWorkspaceError(error) ? error.code : nativeCode(error)
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') return // it vanished, or is a link by now
    this.#pass(task, path, error)
  }

  /** Skips an unreadable directory, or throws. */
  #pass({ operation }: Task, path: MountPath, error: unknown): void {
    const told = translate(error, { operation, path })
    const { onUnreadable } = this.#options
    if (onUnreadable === undefined || !isWorkspaceError(told)) throw told
    onUnreadable(path, told)
  }

  async #releaseFar(task: Task): Promise<void> {
    const far = this.#levels.at(-mostHeld)
    if (far === undefined || far.handle.fd < 0) return
    const entries: DirectoryEntry[] = []
    for (let entry = await this.#read(task, far); entry !== null; entry = await this.#read(task, far)) {
      entries.push(entry)
      task.signal?.throwIfAborted()
      await ownTurn()
    }
    await task.calls.closeListing(far.listing)
    far.listing = new WholeListing(entries)
    await release(task, far.handle)
    far.handle = releasedHandle
  }

  /** Reopens the directory of a level. False if the level must end. */
  async #takeUp(task: Task, level: Level): Promise<boolean> {
    try {
      level.handle = await openDirectory(task, targetOf(task, level.path))
      return true
    } catch (error) {
      this.#levels.pop()
      this.#passUnlessGone(task, level.path, error)
      return false
    }
  }

  async #enter(task: Task, path: MountPath, handle: Handle): Promise<void> {
    try {
      await this.#releaseFar(task)
      const known = namesKnown(this.#options, task, path, (calls) => calls.fstat(handle.fd))
      if (known !== undefined) {
        await release(task, handle)
        this.#levels.push(knownLevel(path, known))
        return
      }
      const listing =
        listWhole(task, handle) ?? recorded(task, handle, await task.calls.openListing(handle.self, 'utf8'))
      this.#levels.push(levelOf(path, handle, listing))
    } catch (error) {
      await release(task, handle)
      throw error
    }
  }

  async #endOfListing(task: Task, level: Level): Promise<void> {
    if (level.asBytes || !level.doubtful) {
      await sweep(task, level.handle, level.temps)
      await this.#leave(task)
      return
    }
    await task.calls.closeListing(level.listing)
    level.asBytes = true
    level.isChecked = false
    try {
      level.listing = await task.calls.openListing(level.handle.self, 'buffer')
    } catch (error) {
      this.#levels.pop()
      await release(task, level.handle)
      throw error
    }
  }

  async #leave(task: Task): Promise<void> {
    const level = this.#levels.pop()
    if (level === undefined) return
    await task.calls.closeListing(level.listing)
    await release(task, level.handle)
  }

  async #finish(): Promise<void> {
    this.#finished = true
    this.#options.resources.release(this)
    while (this.#task !== undefined && this.#levels.length > 0) await this.#leave(this.#task)
  }
}

function isExcluded(path: MountPath, excluded: ReadonlySet<string>): boolean {
  return excluded.has(path) || [...excluded].some((prefix) => paths.isWithin(path, prefix as MountPath))
}
