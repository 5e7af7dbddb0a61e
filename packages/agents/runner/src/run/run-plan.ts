import type { CheckedPlan, CheckedStep } from '../plan/checked.ts'
import type { RunEvent, RunResult, StepEnd, StepFunction, StepOutcome } from './types.ts'

export interface RunPlanOptions {
  readonly runId: string
  /** Carries out each attempt: `executeStep` in this process, or an engine that calls `executeStep` elsewhere. */
  readonly step: StepFunction
  /** After an abort no further step starts. `runPlan` rejects with the signal's reason when running steps have ended. */
  readonly signal?: AbortSignal | undefined
  readonly onEvent?: ((event: RunEvent) => void) | undefined
}

/**
 * Runs the steps of a plan in the order of their needs. Only `step` uses a clock, random numbers or files.
 * An engine that replays `runPlan` gets the same calls of `step` for the same outcomes.
 * @throws the signal's reason, and any error of `step`, when all running steps have ended
 */
export async function runPlan(plan: CheckedPlan, { runId, step, signal, onEvent }: RunPlanOptions): Promise<RunResult> {
  const ends = new Map<string, StepEnd>()
  const missing = new Map(plan.steps.map(({ id, needs }) => [id, new Set(needs)]))
  const dependants = new Map<string, CheckedStep[]>()
  for (const one of plan.steps) for (const need of one.needs) getOrMake(dependants, need).push(one)
  const ready = plan.steps.filter(({ needs }) => needs.length === 0)
  let running = 0
  let wake = (): void => undefined
  const inGroup = new Map<string, number>()
  let stopped: string | undefined
  let fault: { readonly error: unknown } | undefined

  const hasRoom = ({ group }: CheckedStep): boolean =>
    group === undefined || (inGroup.get(group) ?? 0) < (plan.groups[group] ?? 1)

  const note = (id: string, how: StepEnd): void => {
    ends.set(id, how)
    onEvent?.({ type: 'end', step: id, end: how })
  }

  const end = (id: string, how: StepEnd): void => {
    note(id, how)
    if (how.state === 'failed') skipBehind(id)
    else for (const dependant of dependants.get(id) ?? []) release(dependant, id)
  }

  const release = (one: CheckedStep, need: string): void => {
    const left = missing.get(one.id)
    left?.delete(need)
    if (left?.size === 0 && !ends.has(one.id)) ready.push(one)
  }

  const skipBehind = (failed: string): void => {
    const failures = [failed]
    for (let because = failures.pop(); because !== undefined; because = failures.pop()) {
      for (const { id } of dependants.get(because) ?? []) {
        if (ends.has(id)) continue
        note(id, { state: 'skipped', because })
        failures.push(id)
      }
    }
  }

  const attempt = async (one: CheckedStep): Promise<StepOutcome> => {
    for (let number = 1; ; number += 1) {
      onEvent?.({ type: 'start', step: one.id, attempt: number })
      const request = { runId, step: one, templates: plan.templates, attempt: number }
      const outcome = await step(`${one.id}#${number}`, request)
      const isFinal = outcome.state !== 'failed' || number >= one.retry.attempts || isBreach(outcome)
      if (isFinal || signal?.aborted === true) return outcome
    }
  }

  /** Carries out one step. Never rejects: a fault ends the run. */
  const carry = async (one: CheckedStep): Promise<void> => {
    const { group } = one
    running += 1
    if (group !== undefined) inGroup.set(group, (inGroup.get(group) ?? 0) + 1)
    try {
      const outcome = await attempt(one)
      const stops = outcome.state === 'failed' && (isBreach(outcome) ? plan.onBreach : plan.onFailure) === 'stop'
      if (stops) stopped ??= one.id
      end(one.id, outcome)
    } catch (error) {
      fault ??= { error }
    } finally {
      running -= 1
      wake()
      if (group !== undefined) inGroup.set(group, (inGroup.get(group) ?? 1) - 1)
    }
  }

  for (;;) {
    while (stopped === undefined && fault === undefined && signal?.aborted !== true && running < plan.concurrency) {
      const index = ready.findIndex(hasRoom)
      const [next] = index === -1 ? [] : ready.splice(index, 1)
      if (next === undefined) break
      void carry(next)
    }
    if (running === 0) break
    await new Promise<void>((resolve) => {
      wake = resolve
    })
  }
  if (fault !== undefined) throw fault.error
  signal?.throwIfAborted()
  for (const { id } of plan.steps) if (!ends.has(id)) note(id, { state: 'skipped', because: stopped ?? id })
  const failed = [...ends.values()].some(({ state }) => state === 'failed' || state === 'skipped')
  const inOrder = plan.steps.flatMap(({ id }) => {
    const how = ends.get(id)
    return how === undefined ? [] : [[id, how] as const]
  })
  return { runId, state: failed ? 'failed' : 'done', steps: Object.fromEntries(inOrder) }
}

const isBreach = ({ failure }: StepOutcome): boolean => failure?.code === 'ESECURITY'

function getOrMake(map: Map<string, CheckedStep[]>, key: string): CheckedStep[] {
  const found = map.get(key) ?? []
  map.set(key, found)
  return found
}
