import { joinPath } from '../path/virtual-path.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import { admitCall, perform } from '../calls/context.ts'
import type { Context } from '../calls/context.ts'
import { checkMethod } from '../calls/method-options.ts'
import { virtualError } from '../mount/errors.ts'
import type { WorkspaceMount } from '../mount/mounts.ts'
import { refuseBusy } from './busy.ts'
import { changesOf, aspectsOf } from './changes.ts'
import type { AttachedCheckpoints, CheckpointEngine, RestoreConflict } from '../contract/checkpoint-engine.ts'
import type {
  ChangesOptions,
  Change,
  Checkpoint,
  CheckpointDoor,
  CheckpointOptions,
  DiffOptions,
  RestoreOptions,
  RestoreResult,
} from '../contract/checkpoints.ts'
import { diffText } from './diff-text.ts'
import { parsePaths, recordChanges, translated } from './calls.ts'
import { type CommandRun, Runs } from './runs.ts'
import { checkOrder, invalidId, longestLabel, latestOf, missingAbove, withoutEngine, within } from './select.ts'
import { Sights } from './visible.ts'
import type { VisibleDifference } from './visible.ts'

type Kept = RestoreResult['kept'][number]

const untold: CommandRun = { during: (starting) => starting }

export interface CheckpointParts {
  readonly engine: CheckpointEngine
  readonly attached: AttachedCheckpoints
  readonly mounts: readonly WorkspaceMount[]
}

export interface LiveCheckpointsOptions {
  readonly context: Context
  readonly parts: CheckpointParts | undefined
  /** The ids of running commands and sessions. A command without an id is listed by its line. */
  readonly busy: () => readonly string[]
}

/** Gives access to earlier states of a workspace. This class evaluates the rules; the engine saves, compares and restores. */
export class LiveCheckpoints implements CheckpointDoor {
  readonly #context: Context
  readonly #parts: CheckpointParts | undefined
  readonly #busy: () => readonly string[]
  readonly #runs: Runs | undefined

  constructor({ context, parts, busy }: LiveCheckpointsOptions) {
    this.#context = context
    this.#runs = parts && new Runs(context.state)
    this.#parts = parts
    this.#busy = busy
  }

  get isKept(): boolean {
    return this.#parts !== undefined
  }

  get automatic(): boolean {
    // a try is taken back as a whole
    return this.#parts?.engine.automatic === true && this.#context.attempt === undefined
  }

  async checkpoint(options: CheckpointOptions = {}): Promise<Checkpoint> {
    checkMethod('checkpoint', 'checkpoint', options)
    return this.#perform('checkpoint', options, async (parts) => {
      const saved = await parts.attached.save(options)
      if (saved === undefined) return latestOf(await parts.attached.list())
      const sights = new Sights(this.#context, parts.mounts)
      const leftOut = saved.leftOut.flatMap(({ reason, ...place }) => {
        const path = sights.pathOf(place)
        return path === undefined ? [] : [{ path, reason }]
      })
      return { ...saved.checkpoint, leftOut }
    })
  }

  async checkpoints(): Promise<readonly Checkpoint[]> {
    return this.#perform('checkpoints', {}, ({ attached }) => attached.list())
  }

  async changes(options: ChangesOptions = {}): Promise<readonly Change[]> {
    checkMethod('changes', 'changes', options)
    return this.#perform('changes', options, async (parts) => {
      return changesOf(await this.#compare(parts, { operation: 'changes', ...options }))
    })
  }

  async diff(options: DiffOptions = {}): Promise<string> {
    checkMethod('diff', 'diff', options)
    return this.#perform('diff', options, async (parts) => {
      const { path, signal, ...rest } = options
      const paths = path === undefined ? undefined : [path]
      const found = await this.#compare(parts, { operation: 'diff', paths, signal, ...rest })
      return diffText(parts.attached, found, signal)
    })
  }

  async restore(checkpoint: string, options: RestoreOptions = {}): Promise<RestoreResult> {
    checkMethod('restore', 'restore', options)
    const { paths, dryRun = false, signal } = options
    const began = this.#context.clock.begin()
    let done: readonly Change[] = []
    const result = await this.#perform(
      'restore',
      options,
      async (parts) => {
        if (typeof checkpoint !== 'string') throw invalidId()
        const { attached } = parts
        if (!dryRun) refuseBusy('restore', this.#busy())
        const parsed = this.#parse('restore', paths)
        const divided = async (until?: string) =>
          this.#divide(await this.#toRestore(parts, checkpoint, until, parsed, signal))
        if (dryRun) {
          const { restorable, kept } = await divided()
          return { restored: changesOf(restorable), kept }
        }
        // Refuses an unknown checkpoint before saving the current state.
        await this.#known(parts, checkpoint)
        const saved = await attached.save({ label: `before restoring ${checkpoint}`, keep: checkpoint, signal })
        if (saved === undefined) throw new Error('only automatic checkpoints may be left out')
        const undo = saved.checkpoint.id
        const { restorable, kept } = await divided(undo)
        const conflicts = await attached.restore(checkpoint, undo, restorable)
        const left = new Set(conflicts.map((conflict) => this.#virtual(parts, conflict)))
        done = changesOf(restorable.filter(({ virtual }) => !left.has(virtual)))
        const all = [...kept, ...conflicts.map((at) => ({ path: this.#virtual(parts, at), reason: at.reason }))]
        return { restored: done, kept: all, undo }
      },
      paths?.[0],
    )
    recordChanges(this.#context, 'restore', done, began)
    return result
  }

  /** Registers a command or session. Takes a checkpoint if the engine or the caller asks for one. */
  async before(label: string, { changes = false } = {}): Promise<CommandRun> {
    const parts = this.#parts
    if (parts === undefined || this.#runs === undefined) {
      if (changes) throw withoutEngine('exec')
      return untold
    }
    const { automatic } = this
    // the comparison for `changes` has read the files already
    const { isShared, end, during } = this.#runs.begin(() => automatic && !changes && parts.attached.settle())
    try {
      const since = automatic || changes ? await this.#mark(parts, label) : undefined
      if (!changes || since === undefined) return { during }
      return {
        during,
        changes: () =>
          translated(this.#context, 'exec', undefined, async () => {
            const found = changesOf(await this.#visible(parts, since, undefined, undefined))
            return isShared() ? found.map((change) => ({ ...change, shared: true })) : found
          }),
      }
    } catch (error) {
      end()
      throw error
    }
  }

  /** Returns the id of an automatic checkpoint of the current state. */
  async #mark({ attached }: CheckpointParts, label: string): Promise<string> {
    const saved = await attached.save({ automatic: true, label: label.slice(0, longestLabel) })
    return saved?.checkpoint.id ?? latestOf(await attached.list()).id
  }

  async close(): Promise<void> {
    await this.#parts?.attached.close()
  }

  #perform<Result>(
    operation: string,
    { signal }: { readonly signal?: AbortSignal | undefined },
    body: (parts: CheckpointParts) => Promise<Result>,
    path: string = this.#context.root,
  ): Promise<Result> {
    return perform(this.#context, { operation, path, signal }, async () => {
      admitCall(this.#context, operation, signal)
      const parts = this.#parts
      if (parts === undefined) throw withoutEngine(operation)
      return translated(this.#context, operation, signal, () => body(parts))
    })
  }

  async #compare(
    parts: CheckpointParts,
    { operation, since, until, paths, signal }: ChangesOptions & { readonly operation: string },
  ): Promise<readonly VisibleDifference[]> {
    const parsed = this.#parse(operation, paths)
    const { forkedFrom } = parts.attached
    const list = (since ?? forkedFrom) === undefined || until !== undefined ? await parts.attached.list() : []
    if (until !== undefined) checkOrder(operation, list, since, until)
    const from = since ?? forkedFrom ?? list.at(-1)?.id
    if (from === undefined) {
      throw virtualError({
        code: 'ENOENT',
        operation,
        reason: 'there is no checkpoint yet',
        remedy: 'take one with `checkpoint` before the work begins',
      })
    }
    return within(parsed, await this.#visible(parts, from, until, signal))
  }

  async #toRestore(
    parts: CheckpointParts,
    since: string,
    until: string | undefined,
    paths: readonly VirtualPath[] | undefined,
    signal: AbortSignal | undefined,
  ): Promise<readonly VisibleDifference[]> {
    const found = await this.#visible(parts, since, until, signal)
    const chosen = within(paths, found)
    return paths === undefined ? found : [...missingAbove(chosen, found), ...chosen]
  }

  async #visible(
    parts: CheckpointParts,
    since: string,
    until: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<readonly VisibleDifference[]> {
    const differences = await parts.attached.compare(since, until, { signal })
    return new Sights(this.#context, parts.mounts).visible(differences)
  }

  async #known({ attached }: CheckpointParts, id: string): Promise<void> {
    if ((await attached.list()).some((checkpoint) => checkpoint.id === id)) return
    await attached.compare(id, id, {}) // `compare` rejects with the reason
  }

  /** Separates restorable differences from differences at paths that may not be written. */
  #divide(found: readonly VisibleDifference[]): { restorable: VisibleDifference[]; kept: Kept[] } {
    const restorable: VisibleDifference[] = []
    const kept: Kept[] = []
    for (const difference of found) {
      const { virtual: path, before, after } = difference
      const decision = this.#context.gate.decide({ operation: 'write', path, need: 'write', size: before?.size })
      if (decision.effect === 'allow') restorable.push(difference)
      else if (before === undefined || after === undefined || aspectsOf(before, after).length > 0)
        kept.push({ path, reason: decision.reason })
    }
    return { restorable, kept }
  }

  #parse(operation: string, paths: readonly string[] | undefined): readonly VirtualPath[] | undefined {
    return paths && parsePaths(this.#context, operation, paths)
  }

  #virtual({ mounts }: CheckpointParts, { mount, path }: Pick<RestoreConflict, 'mount' | 'path'>): VirtualPath {
    return joinPath(mounts[mount]?.at ?? this.#context.root, path)
  }
}
