import { isWorkspaceError, type FileDoor, type Stat } from '@ws/core'

import type { Base, Refusal } from './base.ts'
import type { Changes } from './call.ts'
import { conflictReason, findBlocker, isConflict, makeBeside } from './conflict.ts'
import { isOther, readRecords, type Seen, showBytes, textOf } from './listing.ts'
import { Checked, type Content, digestOfAll } from './unpack.ts'

export interface ApplyOptions {
  readonly files: FileDoor
  readonly root: string
  readonly base: Base
}

/** Writes the machine's changes into the workspace, under the policy. Replaces only entries that are as both sides last had them. */
export class Apply {
  readonly refusals: Refusal[] = []
  readonly #files: FileDoor
  readonly #root: string
  readonly #base: Base
  /** Directories that went beside an entry of the workspace with the same name. */
  readonly #beside = new Map<string, string>()

  constructor({ files, root, base }: ApplyOptions) {
    this.#files = files
    this.#root = root
    this.#base = base
  }

  /** Returns false if some changes have not arrived: another exchange brings them. */
  async take(
    { gone, fresh, digests }: Changes,
    contents: AsyncIterable<Content>,
    ours: ReadonlyMap<string, unknown>,
  ): Promise<boolean> {
    const now = new Map(fresh.map((seen) => [seen.key, seen]))
    const closed = fresh.filter(({ type }) => type === 'closed').map(({ key }) => `${key}/`)
    const isLinked = ({ key, type }: Seen) => type === 'file' && now.get(key)?.type === 'symlink'
    const isRemoved = (seen: Seen) => this.#base.has(seen.key) && isOther(seen, now.get(seen.key)) && !isLinked(seen)
    const removed = gone.filter(isRemoved)
    for (const seen of removed.toSorted(byKey).toReversed()) {
      // entries below a closed directory are still there
      if (closed.some((place) => seen.key.startsWith(place))) this.#base.delete(seen.key)
      else await this.#attempt(seen, (path) => this.#remove(path, seen))
    }
    const changed = fresh.filter((seen) => this.#base.get(seen.key)?.record !== seen.record).toSorted(byKey)
    const missing = new Map<string, Seen>()
    for (const seen of changed) {
      if (ours.has(seen.key)) this.#base.set(seen.key, { record: seen.record })
      else if (seen.type === 'symlink') await this.#attempt(seen, (path) => this.#link(path, seen))
      else if (seen.type !== 'file') await this.#attempt(seen, (path) => this.#directory(path, seen))
      else if (textOf(seen.key) === undefined) this.#leave(seen)
      else if (digests.has(seen.key)) missing.set(seen.key, seen)
      else this.#refuse(seen, 'could not be read on the machine')
    }
    for await (const { key, bytes } of contents) {
      const seen = missing.get(key)
      if (seen === undefined) continue
      const content = new Checked(bytes, seen.size, digests.get(key) ?? '')
      if (await this.#attempt(seen, (path) => this.#file(path, seen, content))) missing.delete(key)
    }
    return missing.size === 0
  }

  /** Returns false if the change has to come again. */
  async #attempt(seen: Seen, work: (path: string) => Promise<boolean | void>): Promise<boolean> {
    if (textOf(seen.key) === undefined) {
      this.#leave(seen)
      return true
    }
    try {
      return (await work(this.#place(seen.key))) ?? true
    } catch (error) {
      if (!isWorkspaceError(error)) throw error
      this.#refuse(seen, [error.reason, error.remedy].filter(Boolean).join('; '))
      return true
    }
  }

  /** Leaves an entry on the machine that the workspace cannot name. */
  #leave({ key, record }: Seen): void {
    const isKnown = this.#base.get(key)?.record === record
    const isTop = textOf(key.slice(0, Math.max(0, key.lastIndexOf('/')))) !== undefined
    const path = `${this.#root}/${showBytes(key)}`
    if (!isKnown && isTop)
      this.refusals.push({ path, reason: 'has a name that is not UTF-8, and stays on the machine' })
    this.#base.set(key, { record })
  }

  /** Forgets the workspace's version, so that the next command finds the workspace's state on the machine. */
  #refuse({ key, record }: Seen, reason: string): void {
    this.refusals.push({ path: this.#place(key), reason })
    this.#base.set(key, { record })
  }

  #place(key: string): string {
    let path = `${this.#root}/${textOf(key) ?? showBytes(key)}`
    for (const [from, to] of this.#beside) if (path.startsWith(`${from}/`)) path = to + path.slice(from.length)
    return path
  }

  async #remove(path: string, { key, type }: Seen): Promise<void> {
    const version = this.#base.get(key)?.version
    this.#base.delete(key)
    const isDirectory = type === 'directory' || type === 'closed'
    if (version === undefined && !isDirectory) return // the workspace never had it
    try {
      await this.#files.delete(path, { force: true, ...(!isDirectory && { ifVersion: version }) })
    } catch (error) {
      // the workspace has other entries there
      if (!isWorkspaceError(error, 'ENOTEMPTY')) throw error
    }
  }

  async #directory(path: string, seen: Seen): Promise<void> {
    const before = this.#before(seen)
    if (before === undefined) {
      try {
        await this.#files.createDirectory(path)
      } catch (error) {
        if (!isConflict(error)) throw error
        await this.#goBeside(path, seen)
        return
      }
    }
    const isSet = seen.mode !== (before?.mode ?? 0o755) && (await this.#chmod(path, seen.mode))
    this.#base.set(seen.key, { record: seen.record, mode: isSet ? seen.mode : undefined })
  }

  /** Makes a directory beside an entry of the workspace with the same name, for the machine's entries. */
  async #goBeside(path: string, seen: Seen): Promise<void> {
    const place = await makeBeside(this.#files, path, (free) => this.#files.createDirectory(free, { recursive: false }))
    this.#refuse(seen, conflictReason(place))
    this.#beside.set(path, place)
  }

  async #link(path: string, seen: Seen): Promise<void> {
    const target = textOf(seen.target)
    if (target === undefined) {
      this.#refuse(seen, 'is a link to a name that is not UTF-8')
      return
    }
    const before = this.#base.get(seen.key)?.version
    try {
      // a store without links refuses here, where its entry still is
      await this.#files.createSymlink(path, target).catch(async (error: unknown) => {
        if (before === undefined || !isConflict(error)) throw error
        await this.#files.delete(path, { ifVersion: before, force: true })
        await this.#files.createSymlink(path, target)
      })
    } catch (error) {
      if (!isConflict(error)) throw error
      const there = await this.#files.readSymlink(path).catch(() => undefined) // another entry than a link
      if (there !== target) {
        const place = await makeBeside(this.#files, path, (free) => this.#files.createSymlink(free, target))
        this.#refuse(seen, conflictReason(place))
        return
      }
    }
    const { version, mode } = await this.#files.stat(path)
    this.#base.set(seen.key, { record: seen.record, version, mode })
  }

  async #file(path: string, seen: Seen, content: Checked): Promise<boolean> {
    const { key, record, mode } = seen
    const { digest } = content
    const before = this.#before(seen)
    const known = before && this.#base.get(key)
    let { version, mode: bits } = known ?? {}
    try {
      if (version === undefined || known?.digest !== digest) {
        version = (await this.#files.write(path, content, { ifVersion: version ?? 'absent', mode })).version // @defence `ifVersion: version ?? 'absent', ` a change by the file API while a command ran: keeps both versions
      }
      if (before !== undefined && before.mode !== mode && (await this.#chmod(path, mode))) {
        const stat = await this.#files.stat(path)
        version = stat.version
        bits = stat.mode
      }
    } catch (error) {
      // the source is read: the change has to come again
      if (content.isTorn || (isConflict(error) && content.isBegun)) return false
      if (!isConflict(error)) throw error
      return await this.#reconcile(path, seen, content)
    }
    this.#base.set(key, { record, version, mode: bits, digest })
    return true
  }

  /** Both sides changed a file. Equal bytes are an agreement, an edit wins over a deletion, and else both stay. */
  async #reconcile(path: string, seen: Seen, content: Checked): Promise<boolean> {
    const { key, record, size, mode } = seen
    const { digest } = content
    const create = (place: string) => this.#files.write(place, content, { ifVersion: 'absent', mode })
    try {
      const there = await this.#statOf(path)
      if (there === 'blocked') {
        const blocker = (await findBlocker(this.#files, path, this.#root)) ?? path
        await this.#goBeside(blocker, {
          ...seen,
          key: key.slice(0, Buffer.byteLength(blocker) - this.#root.length - 1),
        })
        await create(this.#place(key))
        this.#base.set(key, { record })
      } else if (there === undefined) {
        const { version } = await create(path)
        this.#base.set(key, { record, version, digest })
      } else if (there.type === 'file' && there.size === size && (await this.#digestOf(path)) === digest) {
        this.#base.set(key, { record, version: there.version, mode: there.mode, digest })
      } else this.#refuse(seen, conflictReason(await makeBeside(this.#files, path, create)))
      return true
    } catch (error) {
      if (content.isTorn || (isConflict(error) && content.isBegun)) return false
      throw error
    }
  }

  async #statOf(path: string): Promise<Stat | 'blocked' | undefined> {
    return await this.#files.stat(path).catch((error: unknown) => {
      if (isWorkspaceError(error, 'ENOENT')) return undefined
      if (isWorkspaceError(error, 'ENOTDIR')) return 'blocked'
      throw error
    })
  }

  async #digestOf(path: string): Promise<string> {
    const { stream } = await this.#files.readStream(path)
    return await digestOfAll(stream)
  }

  async #chmod(path: string, mode: number): Promise<boolean> {
    return await this.#files.chmod(path, mode).then(
      () => true,
      (error: unknown) => {
        if (isWorkspaceError(error, 'ENOTSUP')) return false
        throw error
      },
    )
  }

  /** The last known entry of the machine, if it has the same type. */
  #before(seen: Seen): Seen | undefined {
    const agreed = this.#base.get(seen.key)
    const [before] = agreed === undefined ? [] : readRecords(Buffer.from(`${agreed.record}\0`, 'latin1'))
    return before === undefined || isOther(before, seen) ? undefined : before
  }
}

const byKey = (a: Seen, b: Seen): number => (a.key < b.key ? -1 : 1)
