import { paths, type WorkspaceError } from '@ws/core'
import { concurrency, type MountPath, signals } from '@ws/core/adapter'

import type { ReplicaProgress } from '../contract.ts'
import { failure, typed } from '../errors.ts'
import { ancestorsOf } from './paths.ts'
import { pullEntry } from './pull.ts'
import { leaveFailed } from './alone.ts'
import { type Remote, statStore } from './remote.ts'
import { rescan, type Site, type Step } from './site.ts'

/** Most files in transfer at once. */
const parallel = 32
/** Limit of attempts to copy a file that changes during the copy. */
const attempts = 8
/** Milliseconds between two progress reports. */
const reportEvery = 1_000

/** The part of a tree that a call needs: the entry itself, the files that a directory lists, or everything below. */
export type Needed = 'entry' | 'children' | 'below'

/**
 * Copies the files that the store had when the replica was opened and that this machine never had. The copy runs in the background.
 * A call fetches the files that it needs at once. Programs that read the disk directly wait for the whole copy.
 */
export class FirstCopy {
  readonly #site: Site
  readonly #waiting = new Map<MountPath, Remote>()
  readonly #running = new Map<MountPath, Promise<void>>()
  readonly #stop = new AbortController()
  readonly #options = { signal: this.#stop.signal }
  #listed: ReadonlyMap<string, Remote> = new Map()
  #background: Promise<void> | undefined
  #total = { files: 0, bytes: 0 }
  #copied = { files: 0, bytes: 0 }
  #reported = 0

  constructor(site: Site) {
    this.#site = site
  }

  /** Begins to copy these entries, whose directories must exist. @param listed every entry of the store */
  begin(entries: ReadonlyMap<MountPath, Remote>, listed: ReadonlyMap<string, Remote>): void {
    if (entries.size > 0) this.#listed = listed
    for (const [path, remote] of entries) {
      this.#waiting.set(path, remote)
      this.#total.files += 1
      this.#total.bytes += remote.size
    }
    this.#reported = performance.now()
    const report = (error: unknown): void => this.#site.onEvent({ event: 'copy-failed', error: typed(error) })
    if (entries.size > 0) this.#goOn().catch((error: unknown) => this.#stop.signal.aborted || report(error))
  }

  waitsFor(path: string): boolean {
    return this.#waiting.has(path as MountPath)
  }

  /** `undefined` once every file is on the disk. */
  get progress(): ReplicaProgress | undefined {
    return this.#waiting.size === 0 ? undefined : { copied: this.#copied, total: this.#total }
  }

  /** Resolves when the needed part is on the disk. @throws WorkspaceError if the store is away */
  async need(path: MountPath, needed: Needed, signal: AbortSignal | undefined): Promise<void> {
    if (this.#waiting.size === 0) return
    const above = [...ancestorsOf(path), path].filter((one) => this.#waiting.has(one))
    const isNeeded = (one: MountPath): boolean =>
      needed === 'below' ? paths.isWithin(one, path) : paths.parent(one) === path
    const others = needed === 'entry' ? [] : [...this.#waiting.keys()].filter(isNeeded)
    await this.#until(
      concurrency.forEachOf([...above, ...others], parallel, (one) => this.#fetch(one)),
      signal,
    )
  }

  /** Resolves when every file is on the disk. @throws as {@link need} */
  async all(signal?: AbortSignal): Promise<void> {
    while (this.#waiting.size > 0) await this.#until(this.#goOn(), signal)
  }

  /** Stops the copy. The next replica in the directory fetches the rest. */
  async end(): Promise<void> {
    this.#stop.abort()
    await Promise.allSettled([this.#background, ...this.#running.values()])
    this.#waiting.clear()
  }

  #goOn(): Promise<void> {
    const work = async (): Promise<void> => {
      const bring = (found: Iterable<string>): Promise<void> =>
        concurrency.forEachOf(found as Iterable<MountPath>, parallel, (path) => this.#fetch(path))
      await this.#site.packs.load(this.#listed, this.#waiting.keys(), this.#stop.signal, bring)
      await bring(this.#waiting.keys())
    }
    this.#background ??= work().finally(() => {
      this.#background = undefined
      if (this.#waiting.size === 0) this.#listed = new Map()
    })
    return this.#background
  }

  async #until(work: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
    await (signal === undefined ? work : signals.orAbort(work, signal))
  }

  /** Fetches a path once for all callers that wait for it. */
  #fetch(path: MountPath): Promise<void> {
    const running = this.#running.get(path)
    if (running !== undefined) return running
    const fetching = this.#bring(path).finally(() => this.#running.delete(path))
    this.#running.set(path, fetching)
    return fetching
  }

  async #bring(path: MountPath): Promise<void> {
    for (let attempt = 1; attempt <= attempts; attempt += 1) {
      if (this.#stop.signal.aborted) throw closed(path)
      const remote = this.#waiting.get(path)
      if (remote === undefined) return
      // a later pull brings this entry
      if (this.#site.tree.isUnknown(path)) return this.#note(path, remote)
      const step = await this.#pull(path, remote)
      if (step === 'done') {
        this.#note(path, remote)
        return
      }
      if (step === 'changed') await rescan(this.#site)
      const now = step === 'differs' ? await statStore(this.#site.store, path, this.#options) : remote
      if (now === undefined) this.#note(path, remote)
      else this.#waiting.set(path, now)
    }
    const remote = this.#waiting.get(path)
    leaveFailed(this.#site, path, remote?.version, 'it kept changing while it was brought over')
    if (remote !== undefined) this.#note(path, remote)
  }

  async #pull(path: MountPath, remote: Remote): Promise<Step> {
    try {
      return await pullEntry(this.#site, path, remote, this.#options)
    } catch (error) {
      throw this.#stop.signal.aborted ? closed(path) : error
    }
  }

  #note(path: MountPath, { size }: Remote): void {
    this.#waiting.delete(path)
    this.#copied = { files: this.#copied.files + 1, bytes: this.#copied.bytes + size }
    const now = performance.now()
    if (this.#waiting.size > 0 && now - this.#reported < reportEvery) return
    this.#reported = now
    this.#site.onEvent({ event: 'copying', copied: this.#copied, total: this.#total })
  }
}

function closed(path: string): WorkspaceError {
  return failure('ECLOSED', {
    operation: 'close',
    path,
    reason: 'cannot be reached: the replica is closed',
    remedy: 'make another one',
  })
}
