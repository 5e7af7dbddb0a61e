import { setTimeout as delay } from 'node:timers/promises'

import type { StepOutcome, StepRequest } from '../run/types.ts'
import type { LastState, SinceLook } from '../state/journal.ts'
import type { AttemptKey, Landed, LandedEntry, StepRecord } from '../state/records.ts'
import type { StepType } from '../types/types.ts'
import { checkLeft } from './declared.ts'
import type { ExecuteContext } from './context.ts'
import { failureOf } from './failure.ts'
import { fingerprintOf } from './fingerprint.ts'
import { checkLanding, land } from './land.ts'
import { LiveStep } from './live-step.ts'
import { mountPath, readTree, sameEntry } from './tree.ts'

export interface ExecuteOptions {
  readonly signal?: AbortSignal | undefined
  /** True if the run is new, so no record of this attempt can exist. Default false. */
  readonly isFirst?: boolean | undefined
}

/**
 * Carries out an attempt; a second call is safe. For an ended attempt, returns the recorded outcome. An open landing is finished first.
 * @throws the signal's reason after an abort, and errors of the journal; every failure of the step itself is an outcome
 */
export async function executeStep(
  request: StepRequest,
  context: ExecuteContext,
  { signal, isFirst = false }: ExecuteOptions = {},
): Promise<StepOutcome> {
  const { runId, step, attempt } = request
  const key: AttemptKey = { runId, stepId: step.id, attempt }
  const recorded = isFirst ? undefined : await context.state.journal.find(key)
  if (recorded?.state === 'ended') return recorded.outcome
  if (recorded?.state === 'landing') return finishLanding(recorded, context)
  if (attempt > 1 && step.retry.delay > 0) await delay(step.retry.delay, undefined, { signal })
  signal?.throwIfAborted()
  const type = context.types[step.type]
  await using live = new LiveStep(request, context, signal)
  try {
    if (type === undefined) throw new Error(`\`${step.type}\` is not a type of step here; register it`)
    return await attemptStep(key, type, live, context)
  } catch (error) {
    await live.takeBack()
    if (signal?.aborted === true) throw signal.reason
    const { workspace, output } = context
    const failure = failureOf(live.cause(error), { workspace, output, staging: await live.openedStaging() })
    const outcome: StepOutcome = { state: 'failed', attempt, files: 0, bytes: 0, failure }
    const record: StepRecord = { ...key, state: 'ended', outcome, entries: [], report: live.notes.report() }
    await context.state.journal.saveEnd(record, await partlyLanded(live, context))
    return outcome
  }
}

async function attemptStep(
  key: AttemptKey,
  type: StepType,
  live: LiveStep,
  context: ExecuteContext,
): Promise<StepOutcome> {
  const { request, notes } = live
  const { step, attempt } = request
  const { journal } = context.state
  const open = () => live.workspace()
  const isRepeatable = type.repeatable !== false && step.exceptions.length === 0
  const fingerprint = (): Promise<string> => fingerprintOf(request, type, open, context.inputHashes, live.signal)

  const before = await fingerprint()
  const last = await journal.last(step.id)
  const { landed } = last
  context.known.add(landed?.entries ?? [])
  const isCurrent = isRepeatable && request.force !== true && landed?.fingerprint === before
  if (landed !== undefined && isCurrent && (await isUnchanged(landed, context))) {
    const outcome: StepOutcome = { state: 'current', attempt, value: landed.value, ...sizeOf(landed.entries) }
    await journal.saveEnd({ ...key, state: 'ended', outcome, entries: [], report: notes.report() })
    return outcome
  }

  const value = await live.run(type)
  live.throwIfBreached()
  // If inputs changed while the step ran, later runs cannot reuse its outcome.
  const isStable = isRepeatable && (await fingerprint()) === before
  await live.closeWorkspace()
  live.throwIfBreached()
  const entries = await live.leftEntries()
  checkLeft(entries, step.outputs)
  const kept = entries.filter(({ path }) => path !== '')
  const outcome: StepOutcome = { state: 'done', attempt, ...(value === undefined ? {} : { value }), ...sizeOf(kept) }
  const record: StepRecord = {
    ...key,
    state: 'landing',
    outcome,
    entries: kept,
    report: notes.report(),
    ...(isStable ? { fingerprint: before } : {}),
  }
  if (kept.length === 0 && (landed?.entries.length ?? 0) === 0) {
    await endLanding(record, context, { last, isLanding: false })
    if (await live.openedStaging()) await context.state.removeStaging(key)
    return outcome
  }
  const staging = await live.staging()
  const landing = {
    staging,
    output: context.output,
    entries: kept,
    outputs: step.outputs,
    before: landed?.entries ?? [],
  }
  const isKnown = (entry: LandedEntry): boolean => context.known.has(entry)
  await checkLanding({ ...landing, isKnown, hasher: context.hasher })
  await notes.compare(staging, context.output, kept, context.hasher)
  const withDiffs: StepRecord = { ...record, report: notes.report() }
  await journal.saveLanding(withDiffs)
  live.landing = kept
  return finishLanding(withDiffs, context, last)
}

/** Completes a landing. From now on the step counts as done, even if this process dies. */
export async function finishLanding(
  record: StepRecord,
  context: ExecuteContext,
  found?: LastState,
): Promise<StepOutcome> {
  const { state, output, hasher, known } = context
  const last = found ?? (await state.journal.last(record.stepId))
  const before = last.landed?.entries ?? []
  known.add(before)
  const staging = await state.openStaging(record, { fresh: false })
  const outputs = record.entries.filter(({ type }) => type !== 'directory').map(({ path }) => path)
  const fresh = new Set(record.entries.map((entry) => JSON.stringify(entry)))
  try {
    await land({
      staging: staging.adapter,
      output,
      entries: record.entries,
      outputs,
      before,
      isKnown: (entry) => known.has(entry) || fresh.has(JSON.stringify(entry)),
      hasher,
    })
  } finally {
    await staging.close()
  }
  await endLanding(record, context, { last, isLanding: true })
  await state.removeStaging(record)
  return record.outcome
}

async function endLanding(record: StepRecord, context: ExecuteContext, since: SinceLook): Promise<void> {
  const { stepId, fingerprint, outcome, entries } = record
  const landed: Landed = {
    stepId,
    entries,
    ...(fingerprint === undefined ? {} : { fingerprint }),
    ...(outcome.value === undefined ? {} : { value: outcome.value }),
  }
  await context.state.journal.saveEnd({ ...record, state: 'ended' }, landed, since)
  context.known.add(entries)
}

/** Entries that an interrupted landing may have left. Without a fingerprint, the step will run again. */
async function partlyLanded(
  { landing, request }: LiveStep,
  { state, known }: ExecuteContext,
): Promise<Landed | undefined> {
  if (landing === undefined) return undefined
  const stepId = request.step.id
  const before = (await state.journal.last(stepId)).landed?.entries ?? []
  known.add(landing)
  const entries = new Map([...before, ...landing].map((entry) => [JSON.stringify(entry), entry]))
  return { stepId, entries: [...entries.values()] }
}

async function isUnchanged({ entries }: Landed, { output, hasher }: ExecuteContext): Promise<boolean> {
  for (const entry of entries) {
    if (entry.type === 'directory') {
      // a directory whose status cannot be read is treated as changed
      const found = await output.stat(mountPath(entry.path)).catch(() => undefined)
      if (found?.type !== 'directory') return false
      continue
    }
    const [found] = await readTree(output, entry.path, hasher)
    if (found === undefined || !sameEntry(found, entry)) return false
  }
  return true
}

function sizeOf(entries: readonly LandedEntry[]): { readonly files: number; readonly bytes: number } {
  const files = entries.filter((entry) => entry.type === 'file')
  return { files: files.length, bytes: files.reduce((sum, { size }) => sum + size, 0) }
}
