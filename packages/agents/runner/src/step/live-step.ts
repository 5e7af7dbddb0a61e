import type { AccessEvent, CheckpointEngine, Workspace, WorkspaceError } from '@ws/core'
import { signals, type StorageAdapter } from '@ws/core/adapter'

import { asBreach, isBreach } from '../errors.ts'
import type { Json } from '../json.ts'
import { createPlanPaths, outputAt, workspaceAt } from '../paths.ts'
import type { StepRequest } from '../run/types.ts'
import type { LandedEntry } from '../state/records.ts'
import type { Staging } from '../state/state.ts'
import type { StepContext, StepType } from '../types/types.ts'
import type { ExecuteContext } from './context.ts'
import { Notes } from './report.ts'
import { readTree } from './tree.ts'
import { openStepWorkspace, placeIn } from './workspace.ts'

export class LiveStep implements AsyncDisposable {
  readonly request: StepRequest
  readonly notes = new Notes()
  readonly signal: AbortSignal
  landing?: readonly LandedEntry[]
  readonly #context: ExecuteContext
  readonly #breached = new AbortController()
  #breach: WorkspaceError | undefined
  #isRunning = false
  #staging: Promise<Staging> | undefined
  #workspace: Promise<Workspace> | undefined
  #checkpoint: string | undefined

  constructor(request: StepRequest, context: ExecuteContext, signal: AbortSignal | undefined) {
    this.request = request
    this.#context = context
    const { timeout } = request.step
    const aborts = [signal, this.#breached.signal, timeout === undefined ? undefined : AbortSignal.timeout(timeout)]
    this.signal = AbortSignal.any(aborts.filter((one) => one !== undefined))
  }

  async staging(): Promise<StorageAdapter> {
    this.#staging ??= this.#context.state.openStaging(this.#key(), { fresh: true })
    return (await this.#staging).adapter
  }

  async openedStaging(): Promise<StorageAdapter | undefined> {
    // if staging could not be opened, that error is already the step's failure
    return (await this.#staging?.catch(() => undefined))?.adapter
  }

  workspace(): Promise<Workspace> {
    this.#workspace ??= this.#openWorkspace({ forCommands: true })
    return this.#workspace
  }

  /** Runs the type until the step ends, breaches a rule, times out or is aborted. */
  async run(type: StepType): Promise<Json | undefined> {
    const { step } = this.request
    const settings = type.settings.parse(step.with)
    if (step.outputs.length > 0) await this.staging()
    if (this.#checkpoints !== undefined)
      this.#checkpoint = (await (await this.workspace()).checkpoint({ label: step.id })).id
    this.#isRunning = true
    try {
      this.signal.throwIfAborted()
      return await signals.orAbort(type.run(settings, this.#stepContext()), this.signal)
    } finally {
      this.#isRunning = false
    }
  }

  async leftEntries(): Promise<LandedEntry[]> {
    if (this.#staging === undefined) return []
    return readTree(await this.staging(), '', this.#context.hasher, this.signal)
  }

  throwIfBreached(): void {
    if (this.#breach !== undefined) throw this.#breach
  }

  /** The reason of a failure. A breach counts before the errors that follow from it, and a timeout becomes a sentence. */
  cause(error: unknown): unknown {
    if (this.#breach !== undefined) return this.#breach
    const { timeout } = this.request.step
    const isTimeout = error instanceof DOMException && error.name === 'TimeoutError'
    return isTimeout ? new Error(`the step took longer than its timeout of ${timeout} ms`) : error
  }

  /** Restores the paths in the step's `exceptions` after its processes end. The log names entries that were not restored. */
  async takeBack(): Promise<void> {
    if (this.#checkpoint === undefined) return
    try {
      await this.closeWorkspace()
      await using workspace = await this.#openWorkspace({ forCommands: false })
      const paths = this.request.step.exceptions.map(({ path }) => placeIn(path))
      const { kept } = await workspace.restore(this.#checkpoint, { paths })
      for (const { path, reason } of kept) this.notes.log(`\n\`${path}\` was not taken back: ${reason}\n`)
    } catch (error) {
      // the step reports its own failure; this failure goes to the log
      this.notes.log(`\nthe changes of the exceptions were not taken back: ${String(error)}\n`)
    }
  }

  async closeWorkspace(): Promise<void> {
    const workspace = await this.#workspace?.catch(() => undefined) // its failure was the failure of the step
    await workspace?.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.closeWorkspace()
    const staging = await this.#staging?.catch(() => undefined) // its failure was the failure of the step
    await staging?.close()
  }

  #key() {
    const { runId, step, attempt } = this.request
    return { runId, stepId: step.id, attempt }
  }

  get #checkpoints(): CheckpointEngine | undefined {
    return this.request.step.exceptions.length > 0 ? this.#context.checkpoints : undefined
  }

  async #openWorkspace({ forCommands }: { readonly forCommands: boolean }): Promise<Workspace> {
    const { workspace, place, executors, require } = this.#context
    const { step, runId } = this.request
    return openStepWorkspace({
      step,
      workspace,
      staging: await this.staging(),
      place,
      executors: forCommands ? executors : undefined,
      require: forCommands ? require : undefined,
      checkpoints: this.#checkpoints,
      labels: { run: runId, step: step.id },
      onEvent: (event: AccessEvent) => {
        if (this.#isRunning) this.notes.decide(event)
      },
      onBreach: (error) => {
        if (!this.#isRunning || this.#breach !== undefined) return
        this.#breach = error
        this.#breached.abort(error)
      },
    })
  }

  #stepContext(): StepContext {
    const { runId, step, attempt } = this.request
    const paths = createPlanPaths(this.request, this.#context.place)
    const resolveWrite = (path: string): string => {
      try {
        const resolved = paths.write(path)
        return resolved === '' ? outputAt : `${outputAt}/${resolved}`
      } catch (error) {
        throw this.#noteBreach(error)
      }
    }
    return {
      runId,
      stepId: step.id,
      attempt,
      signal: this.signal,
      startsIn: step.inputs.length + step.exceptions.length > 0 ? workspaceAt : outputAt,
      workspace: () => this.workspace(),
      read: async (path) => {
        try {
          const at = `${workspaceAt}/${paths.read(path)}`
          return (await (await this.workspace()).read(at, { signal: this.signal })).bytes
        } catch (error) {
          throw this.#noteBreach(error)
        }
      },
      resolveWrite,
      write: async (path, data) => {
        const at = resolveWrite(path)
        try {
          await (await this.workspace()).write(at, data, { signal: this.signal })
        } catch (error) {
          throw this.#noteBreach(error)
        }
      },
      expand: (text) => paths.expand(text),
      log: (text) => this.notes.log(text),
    }
  }

  /** Records a breach, which ends the step even if the type continues after the error. */
  #noteBreach(error: unknown): unknown {
    const known = asBreach(error)
    if (isBreach(known)) this.#breach ??= known
    return known
  }
}
