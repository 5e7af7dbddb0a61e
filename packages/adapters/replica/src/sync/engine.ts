import { isWorkspaceError, paths, quotePath } from '@ws/core'
import { rewriteError } from '@ws/core/adapter'
import type { AdapterOptions, MountPath, SignalOption, StorageAdapter } from '@ws/core/adapter'

import type { ReplicaEvent } from '../contract.ts'
import { failure, named, typed, unsaved } from '../errors.ts'
import { awayCodes, nameMoved } from './alone.ts'
import { keepOurs } from './conflict.ts'
import { FirstCopy, type Needed } from './first-copy.ts'
import { ancestorsOf } from './paths.ts'
import { pass, type PassRequest, type PassResult } from './pass.ts'
import { few, Notes } from './notes.ts'
import { leaveInStore, type Site } from './site.ts'

const { isWithin, mountRoot: root } = paths
type BeginCommand = NonNullable<StorageAdapter['beginCommand']>

/** Milliseconds between the pushes of sessions and background commands. */
const tick = 1_000
/** Milliseconds without a change after which `persist: 'flush'` pushes by itself. */
const idle = 2_000
/** Milliseconds until a push that waits for another program is tried again. */
const retryEvery = 10_000

type Failures = PassResult['failures']

export interface EngineOptions {
  readonly site: Omit<Site, 'isBusy'>
  readonly persist: 'command' | 'flush'
}

interface NeededBy extends SignalOption {
  readonly operation: string
}

/** Runs one pass at a time. Commands, calls and timers start passes. */
export class Engine {
  readonly site: Site
  readonly copy: FirstCopy
  readonly #notes: Notes
  readonly #persist: 'command' | 'flush'
  #last: Promise<unknown> = Promise.resolve()
  #touched = new Set<MountPath>()
  #acknowledging: ReturnType<Engine['run']> | undefined
  #running = 0
  #background = 0
  #ticker: ReturnType<typeof setInterval> | undefined
  #idle: ReturnType<typeof setTimeout> | undefined
  #retry: ReturnType<typeof setTimeout> | undefined
  #pushes: Promise<unknown> | undefined

  constructor({ site, persist }: EngineOptions) {
    const onEvent = (event: ReplicaEvent): void => {
      this.#notes.hear(event)
      site.onEvent(event)
    }
    this.site = { ...site, onEvent, isBusy: () => this.#running > 0 }
    this.#notes = new Notes(this.site.tree)
    this.copy = new FirstCopy(this.site)
    this.#persist = persist
  }

  /** @throws WorkspaceError if the store is away. The result lists problems of single entries as `waiting` */
  run(request: PassRequest, again = false): Promise<Omit<PassResult, 'failures'> & { readonly waiting: Failures }> {
    const turn = this.#last.then(async () => {
      this.site.tree.startAnew(again)
      const { failures, ...result } = await pass(this.site, this.copy, request)
      for (const [, error] of failures) if (awayCodes.has(error.code)) throw request.push ? unsaved(error) : error
      if (request.push) this.#waitFor(failures)
      else for (const [path, { reason }] of failures) leaveInStore(this.site, path, `it ${reason}`)
      return { ...result, waiting: failures }
    })
    this.#last = turn.catch(() => undefined) // the next one waits for its end; its caller sees the error
    return turn
  }

  /** Pulls the store's entries. @param push also pushes changes that an earlier process left on the disk */
  async open(push: boolean): Promise<void> {
    await this.run({ look: 'all', pull: true, push, later: true })
  }

  /** Resolves when the disk has every entry that the store had when the replica was opened. */
  async complete(signal: AbortSignal | undefined, operation: string): Promise<void> {
    await this.copy.all(signal).catch(named(operation))
  }

  /** Resolves when the part that a call needs is on the disk. */
  async need(path: MountPath, needed: Needed, { operation, signal }: NeededBy): Promise<void> {
    await this.copy.need(path, needed, signal).catch(named(operation))
  }

  /** Brings the store's changes to the disk. @param again also retries entries that failed a moment ago */
  async refresh(signal: AbortSignal | undefined, operation: string, again = true): Promise<void> {
    await this.complete(signal, operation)
    await this.run({ look: undefined, pull: true, push: false, signal }, again).catch(named(operation))
  }

  async begin({ background = false, signal }: AdapterOptions.BeginCommand): ReturnType<BeginCommand> {
    if (this.#persist === 'command') await this.refresh(signal, 'exec', false)
    else await this.complete(signal, 'exec')
    this.#running += 1
    if (background) this.#follow(1)
    let ended = false
    return async () => {
      if (ended) return
      ended = true
      this.#running -= 1
      if (background) this.#follow(-1)
      if (this.#persist === 'flush') this.#rest()
      else await this.run({ look: 'all', pull: false, push: true })
      return this.#notes.tell()
    }
  }

  /** Resolves when the store has acknowledged a call's changes at these paths. */
  async acknowledge(changed: readonly MountPath[], operation: string): Promise<void> {
    for (const path of changed) this.#touched.add(path)
    this.#acknowledging ??= this.#last.then(() => {
      this.#acknowledging = undefined
      const touched = [...this.#touched]
      this.#touched = new Set()
      const { tree } = this.site
      const isKnown = touched.every((path) => !tree.isUnknown(path))
      const only = isKnown ? touched.map((path) => this.#topmostUnknown(path)) : 'all'
      return this.run({ look: only, pull: false, push: true })
    })
    const { waiting, conflicts } = await this.#acknowledging.catch((error: unknown) => {
      throw isWorkspaceError(error) ? rewriteError(error, { operation, path: changed[0] ?? root }) : error
    })
    const concerns = (one: MountPath): boolean => changed.some((path) => isWithin(one, path) || isWithin(path, one))
    const conflict = conflicts.find(({ path }) => concerns(path))
    if (conflict !== undefined) {
      throw failure('ECONFLICT', {
        operation,
        path: conflict.path,
        reason: `was changed in the store by another program; your version is kept as ${quotePath(conflict.kept)}`,
        remedy: 'read both, and write what is right',
      })
    }
    for (const [path, error] of waiting) if (concerns(path)) throw rewriteError(unsaved(error), { operation, path })
    const left = [...this.site.tree.leftOut.values()].find(
      ({ path, holdsBytes }) => holdsBytes && path !== root && concerns(path.replace(/\/$/u, '') as MountPath),
    )
    if (left !== undefined) {
      throw failure('ENOTSUP', {
        operation,
        path: left.path,
        reason: `is on this machine, and not in the store: ${left.reason}`,
        remedy: 'remove or rename it, or raise `maxFileBytes`',
      })
    }
  }

  /** Records a change by a call that does not wait for the store. */
  rest(): void {
    this.#rest()
  }

  async flush(signal: AbortSignal | undefined): Promise<void> {
    const { tree } = this.site
    const request = { look: 'all', pull: false, push: true, signal } as const
    const { pushed, changedMeanwhile, conflicts, waiting } = await this.run(request, true)
    if (conflicts.length > 0) {
      const names = conflicts.map(({ path, kept }) => `${quotePath(path)} (yours is ${quotePath(kept)})`)
      throw failure('ECONFLICT', {
        operation: 'flush',
        path: conflicts[0]?.path ?? '/',
        reason: `was changed in the store too; both versions are kept and saved: ${few(names)}`,
        remedy: 'read both, write what is right, and remove the kept version',
      })
    }
    for (const [, error] of waiting) throw unsaved(error)
    const left = [...tree.leftOut.values()].filter(({ holdsBytes }) => holdsBytes)
    if (left.length > 0) {
      throw failure('ENOTSUP', {
        operation: 'flush',
        path: left[0]?.path ?? '/',
        reason: `cannot be saved; everything else was: ${few(left.map(({ path, reason }) => `${quotePath(path)}: ${reason}`))}`,
        remedy: 'remove or rename it, or raise `maxFileBytes`',
      })
    }
    tree.lastFlush = { time: Date.now(), pushed, changedMeanwhile }
  }

  /**
   * Stops the timers, and pushes the remaining changes.
   *
   * @param isLast no later push follows: a file that waits for another machine's deletion is pushed under a new name
   */
  async end(isLast: boolean): Promise<void> {
    clearInterval(this.#ticker)
    clearTimeout(this.#idle)
    this.#ticker = undefined
    await this.#pushes
    try {
      await this.flush(undefined)
    } catch (error) {
      const { tree, tombstones } = this.site
      const isBlocked = (path: string): boolean => tombstones.waitsFor(path) && tree.seen.has(path)
      const blocked = isLast ? ([...tree.dirty].filter(isBlocked) as MountPath[]) : []
      if (blocked.length === 0) throw error
      for (const path of blocked) await keepOurs(this.site, path, 'content')
      await this.flush(undefined)
    } finally {
      clearTimeout(this.#retry)
    }
  }

  #follow(by: number): void {
    this.#background += by
    if (this.#persist !== 'command') return
    if (this.#background === 0) {
      clearInterval(this.#ticker)
      this.#ticker = undefined
      return
    }
    this.#ticker ??= setInterval(() => this.#pushQuietly(), tick).unref()
  }

  /** Retries entries that wait for another program or machine. */
  #waitFor(failures: Failures): void {
    nameMoved(this.site)
    this.#notes.wait(failures)
    clearTimeout(this.#retry)
    if (failures.size > 0) this.#retry = setTimeout(() => this.#pushQuietly(), retryEvery).unref()
  }

  #rest(): void {
    if (this.#persist !== 'flush') return
    clearTimeout(this.#idle)
    // when a command ends, this method runs again
    this.#idle = setTimeout(() => void (this.#running > 0 || this.#pushQuietly()), idle).unref()
  }

  #pushQuietly(): void {
    if (this.#pushes !== undefined) return
    const report = (error: unknown): void => this.site.onEvent({ event: 'push-failed', error: typed(error) })
    this.#pushes = this.run({ look: 'all', pull: false, push: true })
      .then(({ waiting }) => waiting.forEach(report), report)
      .finally(() => (this.#pushes = undefined))
  }

  #topmostUnknown(path: MountPath): MountPath {
    const { seen } = this.site.tree
    return ancestorsOf(path).find((above) => !seen.has(above)) ?? path
  }
}
