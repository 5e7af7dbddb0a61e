import { isWorkspaceError } from '@ws/core'
import { checkOptions, option, type OptionShapes } from '@ws/core/options'
import type { LeaseStore } from '@ws/threads'

import { invalid } from './errors.ts'
import { canonicalJson, sha256 } from './json.ts'
import { checkPlan } from './plan/check.ts'
import type { CheckedPlan } from './plan/checked.ts'
import { createPlanJsonSchema } from './plan/json-schema.ts'
import { planError, type PlanProblem } from './plan/problems.ts'
import { runPlan } from './run/run-plan.ts'
import type { RunEvent, RunResult, StepFunction, StepOutcome, StepRequest } from './run/types.ts'
import type { RunRecord, StepRecord } from './state/records.ts'
import { stagingName } from './state/state.ts'
import type { ExecuteContext } from './step/context.ts'
import { executeStep, finishLanding } from './step/execute-step.ts'
import { preflight } from './step/preflight.ts'
import type { Opened } from './opened.ts'

export interface RunOptions {
  /** True continues the last run, which was interrupted or failed. Finished steps are not repeated. Default false. */
  readonly resume?: boolean | undefined
  /** True repeats steps that are up to date. Content that no run wrote is still never overwritten. Default false. */
  readonly force?: boolean | undefined
  /** Ends every step on abort. The run can be resumed. */
  readonly signal?: AbortSignal | undefined
  /**
   * Milliseconds to wait for another run of this output. Default 0; 45,000 where the state is a store.
   * In a store, the lease of a runner that died on another machine expires only after 30 seconds.
   */
  readonly wait?: number | undefined
  readonly onEvent?: ((event: RunEvent) => void) | undefined
  /** Passes each attempt to another process, which calls `executeStep`. Default: `executeStep` in this process. */
  readonly step?: StepFunction | undefined
}

const runShapes: OptionShapes<RunOptions> = {
  resume: option.boolean,
  force: option.boolean,
  signal: option.signal,
  wait: option.integer(0, 2 ** 31 - 1),
  onEvent: option.function,
  step: option.function,
}

const silence = 45_000

/** Either a plan that can run, or the problems that prevent it. */
export type PlanCheck =
  | { readonly plan: CheckedPlan; readonly problems: readonly [] }
  | { readonly plan?: undefined; readonly problems: readonly PlanProblem[] }

export interface RunHistory {
  readonly run: RunRecord
  readonly records: readonly StepRecord[]
}

/** Runs plans over one workspace and one output. Made by `createRunner`; close the runner, or declare it with `await using`. */
export class Runner implements AsyncDisposable {
  readonly #context: ExecuteContext
  readonly #opened: Opened
  readonly #newId: () => string

  constructor(context: ExecuteContext, opened: Opened, newId: () => string) {
    this.#context = context
    this.#opened = opened
    this.#newId = newId
  }

  /** The leases of all runners that share this state. */
  get leases(): LeaseStore {
    return this.#context.state.leases
  }

  /** A JSON schema of plans with this runner's types of steps. */
  get planSchema(): Readonly<Record<string, unknown>> {
    return createPlanJsonSchema(this.#context.types)
  }

  /** Finds every problem of a plan that can be found before a run, without changing files. @param given YAML or JSON text, or data */
  async check(given: unknown, { signal }: { readonly signal?: AbortSignal | undefined } = {}): Promise<PlanCheck> {
    const { types, place } = this.#context
    const checked = checkPlan(given, { types, output: place })
    if (checked.plan === undefined) return { problems: checked.problems }
    const onDisk = await preflight(checked, this.#context, signal).catch((error: unknown) => {
      if (checked.problems.length === 0 || signal?.aborted === true) throw error
      return []
    })
    const problems = [...checked.problems, ...onDisk]
    return problems.length > 0 ? { problems } : { plan: checked.plan, problems: [] }
  }

  /**
   * Checks a plan and runs it. A failed step is part of the result.
   * @throws WorkspaceError for a faulty plan, with line and step of each problem; `EBUSY` during another run of this output; `EINVAL` where
   * no run can be resumed; `ECLOSED` where a store gave the lease to another runner. After an abort the signal's reason.
   */
  async run(given: unknown, options: RunOptions = {}): Promise<RunResult> {
    checkOptions<RunOptions>(options, runShapes, { operation: 'run' })
    const { resume = false, force = false, wait = this.leases.scope === 'server' ? silence : 0, onEvent } = options
    const { journal } = this.#context.state
    await using lock = await this.leases.acquire('run', { wait, signal: options.signal }).catch((error: unknown) => {
      options.signal?.throwIfAborted()
      throw error
    })
    // After the loss of the lease, this run stops: another runner continues it.
    const signal = options.signal === undefined ? lock.lost : AbortSignal.any([options.signal, lock.lost])
    await this.#finishLandings()
    const { plan, problems } = await this.check(given, { signal })
    if (plan === undefined) throw planError(problems)
    const { run, ended } = resume ? await this.#resumed(plan) : { run: await this.#begin(plan), ended: [] }
    const known = new Map(ended.map((record) => [stagingName(record), record.outcome]))
    /** Recorded ends never change, so they are read once for the run. An attempt without an end comes from an earlier process. */
    const executeHere: StepFunction = async (_id, request) => {
      const outcome = known.get(stagingName({ ...request, stepId: request.step.id }))
      await lock.confirm?.({ signal }) // after a pause of this process, its timers have not run yet
      return outcome ?? executeStep(request, this.#context, { signal, isFirst: !resume })
    }
    const { step = executeHere } = options
    const result = await runPlan(plan, {
      runId: run.runId,
      signal,
      onEvent,
      step: (id, request) => step(id, force ? { ...request, force } : request),
    })
    await journal.saveRun({ ...run, state: result.state, endedAt: Date.now() })
    return result
  }

  /** Runs one attempt of a step, for engines. The caller must hold the step's lease if two processes could run the attempt at once. */
  executeStep(request: StepRequest, options: { readonly signal?: AbortSignal | undefined } = {}): Promise<StepOutcome> {
    return executeStep(request, this.#context, options)
  }

  /** The last run; `undefined` before the first. */
  async history(): Promise<RunHistory | undefined> {
    const { journal } = this.#context.state
    const run = await journal.lastRun()
    return run && { run, records: await journal.records(run.runId) }
  }

  /** Closes the journal and the runner's own adapters. Repeated calls do nothing. */
  async close(): Promise<void> {
    await this.#opened.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #finishLandings(): Promise<void> {
    for (const landed of await this.#context.state.journal.allLanded()) this.#context.known.add(landed.entries)
    for (const record of await this.#context.state.journal.openLandings()) {
      try {
        await finishLanding(record, this.#context)
      } catch (error) {
        if (!isWorkspaceError(error)) throw error
        const { path, remedy } = error
        const reason = `step \`${record.stepId}\` of an earlier run cannot land \`${path ?? ''}\`: ${error.reason}`
        throw invalid('run', reason, remedy ?? 'restore the output', error)
      }
    }
  }

  async #begin(plan: CheckedPlan): Promise<RunRecord> {
    const { journal, sweep } = this.#context.state
    const last = await journal.lastRun()
    await sweep([])
    const run: RunRecord = {
      runId: this.#newId(),
      number: (last?.number ?? 0) + 1,
      planHash: hashOf(plan),
      state: 'running',
      startedAt: Date.now(),
    }
    await journal.saveRun(run)
    return run
  }

  async #resumed(plan: CheckedPlan): Promise<{ readonly run: RunRecord; readonly ended: readonly StepRecord[] }> {
    const { journal } = this.#context.state
    const last = await journal.lastRun()
    if (last === undefined || last.state === 'done') {
      throw invalid('run', 'there is no run to resume: none was interrupted or failed', 'run the plan without `resume`')
    }
    if (last.planHash !== hashOf(plan)) {
      throw invalid(
        'run',
        'the plan is not the one that was interrupted',
        'run it without `resume`: steps that are up to date are taken over',
      )
    }
    const ended = await journal.dropFailures(last.runId)
    await journal.saveRun({ ...last, state: 'running' })
    return { run: last, ended }
  }
}

function hashOf(plan: CheckedPlan): string {
  return sha256(canonicalJson(plan))
}
