import { isWithin, isWorkspaceError, quotePath, type WorkspaceError } from '@ws/core'
import {
  type BeginCommandOptions,
  type EndCommand,
  type MountPath,
  mountRoot,
  rewriteError,
  type SignalOption,
} from '@ws/core/adapter'

import { failure, typed } from '../errors.ts'
import { FirstCopy, type Needed } from './first-copy.ts'
import { ancestorsOf } from './paths.ts'
import { pass, type PassRequest, type PassResult } from './pass.ts'
import { leaveInStore, type Site } from './site.ts'

/** Milliseconds between the pushes of sessions and background commands. */
const tick = 1_000
/** Milliseconds of quiet after which `persist: 'flush'` pushes by itself. */
const idle = 2_000
const listed = 20

export interface EngineOptions {
  readonly site: Omit<Site, 'isBusy'>
  readonly persist: 'command' | 'flush'
}

interface NeededBy extends SignalOption {
  readonly operation: string
}

/** Runs one pass at a time, when commands, calls and the clock ask for it. */
export class Engine {
  readonly site: Site
  readonly copy: FirstCopy
  readonly #persist: 'command' | 'flush'
  #last: Promise<unknown> = Promise.resolve()
  #touched = new Set<MountPath>()
  #acknowledging: Promise<PassResult> | undefined
  #running = 0
  #background = 0
  #ticker: ReturnType<typeof setInterval> | undefined
  #idle: ReturnType<typeof setTimeout> | undefined
  #pushes: Promise<unknown> | undefined

  constructor({ site, persist }: EngineOptions) {
    this.site = { ...site, isBusy: () => this.#running > 0 }
    this.copy = new FirstCopy(this.site)
    this.#persist = persist
  }

  run(request: PassRequest): Promise<PassResult> {
    const turn = this.#last.then(() => pass(this.site, this.copy, request))
    this.#last = turn.catch(() => undefined) // the next one waits for its end; its caller sees the error
    return turn
  }

  /** Resolves when everything is on the disk that the store had when the replica was opened. */
  async complete(signal: AbortSignal | undefined, operation: string): Promise<void> {
    await this.copy.all(signal).catch(named(operation))
  }

  /** Resolves when what a call needs is on the disk. */
  async need(path: MountPath, needed: Needed, { operation, signal }: NeededBy): Promise<void> {
    await this.copy.need(path, needed, signal).catch(named(operation))
  }

  /** Brings the changes of the store to the disk. */
  async refresh(signal: AbortSignal | undefined, operation: string): Promise<void> {
    await this.complete(signal, operation)
    const { failures } = await this.run({ look: undefined, pull: true, push: false, signal })
    for (const [, error] of failures) throw rewriteError(error, { operation })
  }

  /** The same before a command, which is the way to empty a disk that is full. */
  async #bringAll(signal: AbortSignal | undefined): Promise<void> {
    const { failures } = await this.run({ look: undefined, pull: true, push: false, signal })
    for (const [path, error] of failures) {
      if (error.code !== 'ENOSPC' && error.code !== 'EDQUOT') throw rewriteError(error, { operation: 'exec' })
      leaveInStore(this.site, path, 'the disk of this machine is full')
    }
  }

  async begin({ background = false, signal }: BeginCommandOptions): Promise<EndCommand> {
    await this.complete(signal, 'exec')
    if (this.#persist === 'command') await this.#bringAll(signal)
    this.#running += 1
    if (background) this.#follow(1)
    let ended = false
    return async () => {
      if (ended) return
      ended = true
      this.#running -= 1
      if (background) this.#follow(-1)
      if (this.#persist === 'flush') return this.#rest()
      const { failures } = await this.run({ look: 'all', pull: false, push: true })
      const error = [...failures.values()].find((one) => one.code !== 'EBUSY')
      if (error !== undefined) throw unsaved(error)
    }
  }

  /** Resolves when the store has acknowledged what a call has changed at these paths. */
  async acknowledge(paths: readonly MountPath[], operation: string): Promise<void> {
    for (const path of paths) this.#touched.add(path)
    this.#acknowledging ??= this.#last.then(() => {
      this.#acknowledging = undefined
      const touched = [...this.#touched]
      this.#touched = new Set()
      const { tree } = this.site
      const isKnown = touched.every((path) => !tree.isUnknown(path))
      const only = isKnown ? touched.map((path) => this.#topmostUnknown(path)) : 'all'
      return this.run({ look: only, pull: false, push: true })
    })
    const { failures, conflicts } = await this.#acknowledging
    const concerns = (one: MountPath): boolean => paths.some((path) => isWithin(one, path) || isWithin(path, one))
    const conflict = conflicts.find(({ path }) => concerns(path))
    if (conflict !== undefined) {
      throw failure('ECONFLICT', {
        operation,
        path: conflict.path,
        reason: `was changed in the store by another program; your version is kept as ${quotePath(conflict.kept)}`,
        remedy: 'read both, and write what is right',
      })
    }
    for (const [path, error] of failures) if (concerns(path)) throw rewriteError(unsaved(error), { operation, path })
    const left = [...this.site.tree.leftOut.values()].find(
      ({ path, holdsBytes }) => holdsBytes && path !== mountRoot && concerns(path.replace(/\/$/u, '') as MountPath),
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

  /** A call has changed something that nothing waits for. */
  rest(): void {
    this.#rest()
  }

  async flush(signal: AbortSignal | undefined): Promise<void> {
    const { tree } = this.site
    const { pushed, changedMeanwhile, conflicts, failures } = await this.run({
      look: 'all',
      pull: false,
      push: true,
      signal,
    })
    if (conflicts.length > 0) {
      const names = conflicts.map(({ path, kept }) => `${quotePath(path)} (yours is ${quotePath(kept)})`)
      throw failure('ECONFLICT', {
        operation: 'flush',
        path: conflicts[0]?.path ?? '/',
        reason: `was changed in the store too; both versions are kept and saved: ${few(names)}`,
        remedy: 'read both, write what is right, and remove the kept version',
      })
    }
    for (const [, error] of failures) throw unsaved(error)
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

  /** Ends the clocks, and pushes what is left. */
  async end(): Promise<void> {
    clearInterval(this.#ticker)
    clearTimeout(this.#idle)
    this.#ticker = undefined
    await this.#pushes
    await this.flush(undefined)
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

  #rest(): void {
    if (this.#persist !== 'flush') return
    clearTimeout(this.#idle)
    if (this.#running > 0) return
    this.#idle = setTimeout(() => this.#pushQuietly(), idle).unref()
  }

  #pushQuietly(): void {
    if (this.#pushes !== undefined) return
    const report = (error: unknown): void => this.site.onEvent({ event: 'push-failed', error: typed(error) })
    this.#pushes = this.run({ look: 'all', pull: false, push: true })
      .then(({ failures }) => failures.forEach(report), report)
      .finally(() => (this.#pushes = undefined))
  }

  #topmostUnknown(path: MountPath): MountPath {
    const { seen } = this.site.tree
    return ancestorsOf(path).find((above) => !seen.has(above)) ?? path
  }
}

function named(operation: string): (error: unknown) => never {
  return (error) => {
    throw isWorkspaceError(error) ? rewriteError(error, { operation }) : error
  }
}

function few(texts: readonly string[]): string {
  const more = texts.length - listed
  return `${texts.slice(0, listed).join(', ')}${more > 0 ? `, and ${more} more` : ''}`
}

/** The change is on the disk, and waits there. */
function unsaved(error: WorkspaceError): WorkspaceError {
  if (error.code === 'ECONFLICT') return error
  return rewriteError(error, {
    reason: `${error.reason}. The change is kept on this machine, and is not in the store`,
    remedy: `${error.remedy ?? 'try again'}; then call \`flush\``,
  })
}
