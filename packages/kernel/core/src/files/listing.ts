import type { Entry } from '../contract/file-types.ts'
import type { EntryIterator } from '../contract/inner.ts'
import { Pace } from '../adapter/pace.ts'
import { isWithin } from '../path/virtual-path.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import { admitCall, parseFor, recordFiles } from '../calls/context.ts'
import type { Context } from '../calls/context.ts'
import { EntryShaper } from './entry-shaper.ts'
import { readTarget } from './link-target.ts'
import { translateError, virtualError } from '../mount/errors.ts'
import type { WorkspaceEntry, WorkspaceListOptions } from '../contract/file-door.ts'
import { checkMethod } from '../calls/method-options.ts'
import { openRegion } from './open-region.ts'
import type { RegionLimits } from './open-region.ts'
import { depthOf, mayEnter, mountsBelow } from './regions.ts'
import type { Region } from './regions.ts'
import type { Trace } from '../mount/walk.ts'

type Result = IteratorResult<WorkspaceEntry, undefined>

/** Number of entries between two checks of the clock. */
const entriesPerLook = 32

const end: Result = { done: true, value: undefined }

export function list(
  context: Context,
  path = '.',
  options: WorkspaceListOptions = {},
  onUnreadable?: RegionLimits['onUnreadable'],
): AsyncIterableIterator<WorkspaceEntry, undefined> {
  return new Listing(context, path, options, onUnreadable)
}

/** A listing of several mounts in sequence. Not an async generator, which costs more per entry than the adapter. */
class Listing implements AsyncIterableIterator<WorkspaceEntry, undefined> {
  readonly #context: Context
  readonly #path: string
  readonly #options: WorkspaceListOptions
  readonly #onUnreadable: RegionLimits['onUnreadable']
  /** Yields to the event loop, since an adapter with all entries in memory never does. */
  readonly #pace: Pace
  #resting: Promise<void> | undefined
  #untilLook = entriesPerLook
  #excluded: readonly VirtualPath[] = []
  /** Greatest depth of listed paths, in slashes. */
  #deepest = Number.POSITIVE_INFINITY
  #opening: Promise<unknown> | undefined
  #region: Region | undefined
  #shape: EntryShaper | undefined
  /** Entries that no adapter returned, and mounts still to be listed. */
  #leftOver: WorkspaceEntry[] = []
  #mounts: VirtualPath[] = []
  #done = false

  constructor(
    context: Context,
    path: string,
    options: WorkspaceListOptions,
    onUnreadable: RegionLimits['onUnreadable'],
  ) {
    this.#context = context
    this.#path = path
    this.#options = options
    this.#onUnreadable = onUnreadable
    // Options that are not an object are refused later, when the listing starts.
    this.#pace = new Pace((options as WorkspaceListOptions | null)?.signal)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<Result> {
    if (this.#done) return Promise.resolve(end)
    if (this.#region === undefined) return this.#start()
    if (this.#resting !== undefined || this.#isDue()) return this.#rest()
    const { entries } = this.#region
    if (entries === undefined) return this.#afterRegion()
    const shape = this.#shape
    if (shape === undefined) return entries.next() as Promise<Result>
    for (let entry = entries.nextNow?.(); entry !== undefined; entry = entries.nextNow?.()) {
      const value = shape.shape(entry)
      if (value !== undefined) return Promise.resolve(this.#give(value))
      if (this.#isDue()) return this.#rest()
    }
    return this.#pull(entries)
  }

  /** Reads the clock only every {@link entriesPerLook} entries: one entry takes less than the clock resolution. */
  #isDue(): boolean {
    this.#untilLook -= 1
    if (this.#untilLook > 0) return false
    this.#untilLook = entriesPerLook
    return this.#pace.isDue
  }

  #rest(): Promise<Result> {
    this.#resting ??= this.#pace.rest().finally(() => {
      this.#resting = undefined
    })
    return this.#resting.then(() => this.next())
  }

  async return(): Promise<Result> {
    this.#done = true
    await this.#region?.entries?.return?.()
    return end
  }

  async #start(): Promise<Result> {
    if (this.#opening !== undefined) {
      // Concurrent calls of `next()` get their entries in order.
      await this.#opening
      return this.next()
    }
    const opening = this.#open()
    this.#opening = opening.catch(() => undefined) // the caller of `opening` gets the error
    return opening
  }

  async #open(): Promise<Result> {
    checkMethod('list', 'list', this.#options)
    const { maxDepth } = this.#options
    if (maxDepth !== undefined && this.#options.recursive !== true) throw depthError()
    const context = this.#context
    const { signal } = this.#options
    const options = { operation: 'list', path: this.#path, signal } as const
    const trace: Trace = {}
    const began = context.clock.begin()
    try {
      admitCall(context, 'list', signal)
      const parsed = parseFor(context, 'list', this.#path)
      this.#excluded = (this.#options.exclude ?? [])
        .map((given) => parseFor(context, 'list', given).path)
        .filter((given) => typeof given === 'string')
      const region = await context.walker.run(
        { operation: 'list', need: 'read', followLast: true, signal, trace },
        parsed.path,
        async (located, adapter) => {
          if (maxDepth !== undefined) this.#deepest = depthOf(located.virtual) + maxDepth
          return openRegion(context, located, adapter, this.#limits)
        },
      )
      if (context.audit.active) recordFiles(context, options, { began, trace, error: undefined })
      return await this.#enter(region)
    } catch (error) {
      this.#done = true
      if (context.audit.active) recordFiles(context, options, { began, trace, error })
      throw error
    }
  }

  async #enter(region: Region): Promise<Result> {
    const recursive = this.#options.recursive === true
    const shape = new EntryShaper(this.#context, region, recursive, this.#deepest)
    this.#region = region
    const asItIs = shape.plain && region.mount?.at === '/' && !this.#tellsTargets
    // Nested mounts come last. A plain region without nested mounts needs no shaper: the adapter's iterator ends the listing.
    this.#shape = asItIs && this.#mounts.length === 0 ? undefined : shape
    if (recursive) {
      const below = mountsBelow(this.#context, region.start)
      this.#mounts.unshift(...below.filter((nested) => this.#isWanted(region.start, nested)))
    }
    if (region.first === undefined) return this.#afterRegion()
    if (this.#shape === undefined) return region.first as Result
    return this.#take(region.first)
  }

  #isWanted(start: VirtualPath, nested: VirtualPath): boolean {
    if (depthOf(nested) >= this.#deepest || this.#excluded.some((path) => isWithin(nested, path))) return false
    return mayEnter(this.#context, start, nested)
  }

  get #limits(): RegionLimits {
    return { ...this.#options, excluded: this.#excluded, deepest: this.#deepest, onUnreadable: this.#onUnreadable }
  }

  get #tellsTargets(): boolean {
    return this.#options.details === true && this.#region?.mount?.adapter?.capabilities.symlinks !== false
  }

  #give(value: WorkspaceEntry): Result | Promise<Result> {
    if (value.type !== 'symlink' || !this.#tellsTargets) return { done: false, value }
    return readTarget(this.#context, value, this.#options.signal).then((link) => ({ done: false, value: link }))
  }

  #pull(entries: EntryIterator): Promise<Result> {
    return entries.next().then(
      (result) => this.#take(result),
      (error: unknown) => {
        this.#done = true
        throw translateError(error, {
          operation: 'list',
          at: this.#region?.mount?.at,
          path: this.#region?.start ?? ('/' as VirtualPath),
          signal: this.#options.signal,
        })
      },
    )
  }

  #take(result: IteratorResult<Entry>): Result | Promise<Result> {
    if (result.done === true) return this.#afterRegion()
    const value = this.#shape?.shape(result.value)
    if (value !== undefined) return this.#give(value)
    const entries = this.#region?.entries
    return entries === undefined ? this.#afterRegion() : this.#pull(entries)
  }

  async #afterRegion(): Promise<Result> {
    if (this.#region !== undefined && this.#shape !== undefined) {
      this.#leftOver.push(...this.#shape.unseen())
      this.#region = { ...this.#region, entries: undefined }
      this.#shape = undefined
    }
    const value = this.#leftOver.shift()
    if (value !== undefined) return { done: false, value }
    const nested = this.#mounts.shift()
    if (nested === undefined) {
      this.#done = true
      return end
    }
    const located = this.#context.gate.admit('list', nested, 'read')
    const adapter = located.mount === undefined ? undefined : await this.#context.open(located.mount)
    return this.#enter(await openRegion(this.#context, located, adapter, this.#limits))
  }
}

function depthError(): Error {
  return virtualError({
    code: 'EINVAL',
    operation: 'list',
    reason: '`maxDepth` goes with `recursive`',
    remedy: 'pass `recursive: true` too, or leave `maxDepth` out',
  })
}
