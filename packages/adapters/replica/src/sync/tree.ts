import { paths } from '@ws/core'
import type { Entry, MountPath } from '@ws/core/adapter'
import { isCovered, isSameTime } from '@ws/tree/disk'

import type { ReplicaConflict, ReplicaFlush, ReplicaLeftOut, ReplicaStatus } from '../contract.ts'
import type { Base, Looked, Seen } from '../worker/protocol.ts'
import { ancestorsOf } from './paths.ts'

/** The scan's reason for entries without bytes. */
const withoutBytes = 'it is a FIFO, a socket or a device'

type Side = 'base' | 'seen'

/** The agreed entries and this machine's last scan of them. A path that differs is dirty. */
export class ReplicaTree {
  readonly base = new Map<string, Base>()
  readonly seen = new Map<string, Seen>()
  readonly dirty = new Set<string>()
  /** The dirty paths without an entry on this machine. */
  readonly gone = new Set<MountPath>()
  /** Entries of the disk that the last scans could not read or may not push, by path. */
  readonly leftOut = new Map<string, ReplicaLeftOut>()
  /** Entries in the last listing of the store that this machine cannot hold, by path. */
  readonly notHeld = new Map<string, ReplicaLeftOut>()
  /** Objects in the last listing that no path names, by the nearest path. */
  readonly unnamed = new Map<string, ReplicaLeftOut & { readonly type: Entry['type'] }>()
  /** Store entries that could not be brought over, by path. No retry happens before `until`, on this process's clock. */
  readonly failed = new Map<string, { readonly version: string | undefined; readonly reason: string; until: number }>()
  readonly #differed = new Map<string, number>()
  readonly #coming = new Set<string>()
  readonly #below = { base: new Map<string, number>(), seen: new Map<string, number>() }
  #unknown: ReadonlySet<string> = new Set()
  readonly #refused = new Map<string, string | undefined>()
  /** Conflicts, by the path of the kept version. */
  readonly conflicts = new Map<string, ReplicaConflict>()
  lastFlush: ReplicaFlush | undefined
  /** When the topmost directory last gained or lost an entry. */
  changedAt = 0
  /** Paths that changed during the last full scan, with the time of change; `undefined` for removed entries. */
  young: ReadonlyMap<MountPath, number | undefined> = new Map()

  agree(base: readonly Base[], gone: readonly string[] = []): void {
    for (const path of gone) if (this.base.delete(path)) this.#count('base', path, -1)
    for (const one of base) {
      if (!this.base.has(one.path)) this.#count('base', one.path, 1)
      this.base.set(one.path, one)
      this.#coming.delete(one.path)
      this.#share(one.path)
    }
    for (const path of [...gone, ...base.map(({ path: at }) => at)]) {
      // the store has taken the entry after all, or has removed it
      if (this.#refused.delete(path)) this.leftOut.delete(path)
      this.#judge(path)
    }
  }

  see(path: string, facts: Seen | undefined): void {
    if (path === paths.mountRoot) {
      this.changedAt = timeOf(facts) ?? 0
      return
    }
    if ((facts === undefined) === this.seen.has(path)) this.#count('seen', path, facts === undefined ? -1 : 1)
    if (facts === undefined) this.seen.delete(path)
    else {
      this.seen.set(path, facts)
      this.#share(path)
    }
    this.#judge(path)
  }

  /** Shares one object between both maps if both sides are equal, as most entries are. This saves half of the memory. */
  #share(path: string): void {
    const [base, seen] = [this.base.get(path), this.seen.get(path)]
    if (base === undefined || seen === undefined) return
    const { type, size, mode, mtime, content, target } = seen
    const same = base.type === type && base.size === size && base.mode === mode && base.mtime === mtime
    if (same && base.content === content && base.target === target) this.seen.set(path, base)
  }

  /** The number of entries below a directory, at any depth. */
  below(side: Side, path: string): number {
    return this.#below[side].get(path) ?? 0
  }

  #count(side: Side, path: string, by: number): void {
    for (const above of ancestorsOf(path as MountPath)) this.#below[side].set(above, this.below(side, above) + by)
  }

  /** Leaves an entry of the disk out until it changes. Returns true for an entry that was not left out before. */
  refuse(left: ReplicaLeftOut): boolean {
    const isNew = !this.leftOut.has(left.path)
    this.leftOut.set(left.path, left)
    this.#refused.set(left.path, this.#wordOf(left.path))
    return isNew
  }

  /** Records that the store differs from its listing at a path. Returns the count since {@link startAnew}. */
  differs(path: string): number {
    const count = (this.#differed.get(path) ?? 0) + 1
    this.#differed.set(path, count)
    return count
  }

  /** @param all also retries entries that could not be brought over */
  startAnew(all: boolean): void {
    this.#differed.clear()
    this.#coming.clear()
    if (all) this.failed.clear()
  }

  /** Whether a new entry of the disk may be pushed. If the disk has too many entries, the first ones are admitted while there is room. */
  admits(path: string, maxFiles: number): boolean {
    const room = maxFiles - this.base.size - this.#coming.size
    if (this.seen.size > maxFiles && room <= 0 && !this.#coming.has(path)) return false
    this.#coming.add(path)
    return true
  }

  /** True if the last scan could not read the path: the entry is neither pushed nor changed by a pull. */
  isUnknown(path: string): boolean {
    return isCovered(this.#unknown, path)
  }

  /** @param only the scanned paths, with everything below them. Default: all */
  take({ changed, gone, leftOut, unknown }: Looked, only?: readonly string[]): void {
    const isLooked = (path: string): boolean => only === undefined || isCovered(new Set(only), path)
    this.#unknown = new Set([...[...this.#unknown].filter((path) => !isLooked(path)), ...unknown])
    for (const path of gone) this.see(path, undefined)
    for (const [path, facts] of changed) this.see(path, facts)
    const isRefused = (path: string): boolean =>
      this.#refused.has(path) && this.#refused.get(path) === this.#wordOf(path)
    for (const path of this.leftOut.keys()) if (isLooked(path) && !isRefused(path)) this.leftOut.delete(path)
    for (const { path, reason } of leftOut)
      this.leftOut.set(path, { path: path as MountPath, reason, holdsBytes: reason !== withoutBytes })
  }

  status(): Omit<ReplicaStatus, 'copying'> {
    const dirty = [...this.dirty].sort() as MountPath[]
    return {
      dirty,
      waitingBytes: dirty.reduce((sum, path) => sum + (this.seen.get(path)?.size ?? 0), 0),
      lastFlush: this.lastFlush,
      conflicts: [...this.conflicts.values()].sort((left, right) => left.time - right.time),
      leftOut: [
        ...this.leftOut.values(),
        ...this.notHeld.values(),
        ...[...this.unnamed.values()].map(({ path, reason, holdsBytes }) => ({ path, reason, holdsBytes })),
      ],
    }
  }

  /** A word that changes with the entry on the disk; `undefined` if no entry exists. */
  #wordOf(path: string): string | undefined {
    const facts = this.seen.get(path)
    return facts && (facts.content ?? facts.target ?? facts.type)
  }

  #judge(path: string): void {
    const [base, seen] = [this.base.get(path), this.seen.get(path)]
    this.dirty[isAgreed(base, seen) ? 'delete' : 'add'](path)
    this.gone[base === undefined || seen !== undefined ? 'delete' : 'add'](path as MountPath)
  }
}

export function isAgreed(base: Base | undefined, facts: Seen | undefined): boolean {
  if (base === undefined || facts === undefined) return base === facts
  return isSameBytes(base, facts) && (facts.type === 'symlink' || hasSameMarks(base, facts))
}

export function isSameBytes(base: Base | undefined, facts: Seen | undefined): boolean {
  if (base === undefined || facts === undefined) return false
  if (base.type !== facts.type) return false
  if (base.type === 'directory') return true
  return base.type === 'symlink'
    ? base.target === facts.target
    : base.content !== undefined && base.content === facts.content
}

/** When an entry of the disk last changed. `undefined` if no entry exists. */
export function timeOf(facts: Seen | undefined): number | undefined {
  return facts?.ctime ?? facts?.mtime
}

/** Compares bits and times. Times of directories change with every entry, so they do not count. */
export function hasSameMarks(base: Base, facts: Seen): boolean {
  const sameMode = (base.mode & 0o777) === (facts.mode & 0o777)
  return sameMode && (base.type === 'directory' || isSameTime(base.mtime, facts.mtime))
}

/** Builds the base for facts that were just agreed. */
export function baseOf(path: string, facts: Seen, version: string): Base {
  const { type, content, target, size, mode, mtime } = facts
  return { path, type, version, content, target, size, mode, mtime }
}
