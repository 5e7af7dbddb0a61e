import { isWorkspaceError, paths, WorkspaceError } from '@ws/core'
import { concurrency, type MountPath, type StorageAdapter } from '@ws/core/adapter'
import { z } from 'zod'

import { damaged, endedAlready, journalVersion, otherVersion } from './faults.ts'
import type { Journal, LastState, SinceLook } from './journal.ts'
import { ObjectFiles, parse } from './object-files.ts'
import {
  landedSchema,
  recordSchema,
  runSchema,
  type AttemptKey,
  type Landed,
  type RunRecord,
  type StepRecord,
} from './records.ts'

const atOnce = 16

/** The state of a step after an attempt landed. The state with the greatest `order` is the last state. */
const stateSchema = z.object({ order: z.int(), landed: landedSchema })
type State = z.output<typeof stateSchema>

const endSchema = z.object({ record: recordSchema, last: stateSchema.optional() })
const landingSchema = z.object({ record: recordSchema })
const runFileSchema = z.object({ run: runSchema })

/** A journal of objects in a store with conditions. @throws WorkspaceError `EINVAL` of another version, `EIO` if damaged */
export async function openObjectJournal(adapter: StorageAdapter): Promise<Journal> {
  const marker = paths.parseMount('/version.json', 'openJournal')
  const bytes = Buffer.from(`${JSON.stringify({ version: journalVersion })}\n`)
  try {
    await adapter.write(marker, bytes, { ifVersion: 'absent', parents: true, durable: true })
  } catch (error) {
    if (!isWorkspaceError(error, 'ECONFLICT')) throw error
    const { version } = parse((await adapter.read(marker)).bytes, z.object({ version: z.number() }))
    if (version !== journalVersion) throw otherVersion(version)
  }
  return new ObjectJournal(new ObjectFiles(adapter))
}

/**
 * Objects:
 * - `runs/NUMBER.json`: a run. Only the process with the run's lease replaces this object;
 * - `ends/RUN/STEP~ATTEMPT.json`: the end of an attempt, created once, with the step's last state if it landed;
 * - `steps/STEP/landing~RUN~ATTEMPT.json`: an unsettled landing;
 * - `steps/STEP/landed~ORDER~RUN~ATTEMPT.json`: a state of the step, created once. The greatest ORDER marks the last state.
 * **The order of `saveEnd`**: create the end, create the state, remove older states and the landing. The creation of the end decides.
 * A crash before the end is created leaves an open landing. After a later crash, the next reader of the landing settles it by its end.
 * Any process can repeat the settling, at any time: it replaces no object. So a step reads its own few objects, never the history.
 */
class ObjectJournal implements Journal {
  readonly #files: ObjectFiles

  constructor(files: ObjectFiles) {
    this.#files = files
  }

  async lastRun(): Promise<RunRecord | undefined> {
    let last: MountPath | undefined
    for await (const path of this.#files.list('/runs')) if (last === undefined || path > last) last = path
    return last && (await this.#files.read(last, runFileSchema))?.content.run
  }

  async saveRun(run: RunRecord): Promise<void> {
    const path = fileAt('runs', digits(run.number))
    const found = await this.#files.read(path, runFileSchema)
    const isOther = found !== undefined && found.content.run.runId !== run.runId
    if (!isOther && (await this.#files.write(path, { run }, found?.version ?? 'absent'))) return
    throw new WorkspaceError({
      code: 'ECONFLICT',
      operation: 'saveRun',
      reason: `another runner saves run ${run.number} of this output`,
      remedy: 'wait for its end',
    })
  }

  async find(key: AttemptKey): Promise<StepRecord | undefined> {
    // Read the landing first: if the landing vanishes before the second read, its end exists.
    const landing = await this.#files.read(landingAt(key), landingSchema)
    const end = await this.#files.read(endAt(key), endSchema)
    return (end ?? landing)?.content.record
  }

  async records(runId: string): Promise<StepRecord[]> {
    const found = new Map<string, StepRecord>()
    for (const key of (await this.#list()).flatMap(({ landings }) => landings)) {
      const record = key.runId === runId ? await this.find(key) : undefined
      if (record !== undefined) found.set(nameOf(key), record)
    }
    const read = (path: MountPath) => this.#files.read(path, endSchema)
    for await (const end of concurrency.mapInOrder(this.#files.list(endsOf(runId)), atOnce, read)) {
      if (end !== undefined) found.set(nameOf(end.content.record), end.content.record)
    }
    return [...found.values()]
  }

  async saveLanding(record: StepRecord): Promise<void> {
    const path = landingAt(record)
    for (let isSaved = await this.#files.write(path, { record }, 'absent'); !isSaved; ) {
      const found = await this.#files.read(path, landingSchema)
      isSaved = await this.#files.write(path, { record }, found?.version ?? 'absent')
    }
    // read after the write, to find an end that was saved in the meantime
    if ((await this.#files.read(endAt(record), endSchema)) !== undefined) throw endedAlready(record)
  }

  async saveEnd(record: StepRecord, landed?: Landed, since?: SinceLook): Promise<void> {
    if (landed === undefined) return this.#createEnd(record)
    const { last: before, isLanding } = since ?? (await this.#look(record))
    if (!isLanding) {
      await this.#files.write(landingAt(record), { record: { ...record, state: 'landing' } }, 'absent')
    }
    const last: State = { order: (before.order ?? 0) + 1, landed }
    await this.#createEnd(record, last)
    // The end is saved. If settling fails, the next reader of last states settles it.
    await this.#settle(record, last, before.objects).catch(() => undefined)
  }

  /** Removes failed ends. After a crash in between, the next call removes the remaining ends before any step runs. */
  async dropFailures(runId: string): Promise<StepRecord[]> {
    const kept: StepRecord[] = []
    await concurrency.forEachOf(this.#files.list(endsOf(runId)), atOnce, async (path) => {
      const end = await this.#files.read(path, endSchema)
      if (end === undefined) return
      if (end.content.record.outcome.state !== 'failed') {
        kept.push(end.content.record)
        return
      }
      // settle first, because without its end the landing would count as unfinished, with unknown files
      await this.#settle(end.content.record, end.content.last)
      await this.#files.remove(path)
    })
    return kept
  }

  async openLandings(): Promise<StepRecord[]> {
    const open: StepRecord[] = []
    for (const key of (await this.#settled()).flatMap(({ landings }) => landings)) {
      const record = await this.find(key)
      if (record?.state === 'landing') open.push(record)
    }
    return open
  }

  async last(stepId: string): Promise<LastState> {
    const [step] = await this.#settled(stepId)
    return step === undefined ? {} : this.#readLast(step)
  }

  async allLanded(): Promise<Landed[]> {
    const found: Landed[] = []
    for await (const { landed } of concurrency.mapInOrder(await this.#settled(), atOnce, (step) =>
      this.#readLast(step),
    )) {
      if (landed !== undefined) found.push(landed)
    }
    return found
  }

  async #createEnd(record: StepRecord, last?: State): Promise<void> {
    if (await this.#files.write(endAt(record), { record, last }, 'absent')) return
    throw endedAlready(record)
  }

  async #list(stepId?: string): Promise<StepObjects[]> {
    const steps = new Map<string, StepObjects>()
    for await (const path of this.#files.list(objectsOf(stepId))) {
      const [, step = '', order, run = '', attempt = ''] = objectPattern.exec(path) ?? []
      if (attempt === '') throw damaged()
      const key: AttemptKey = {
        runId: decodeURIComponent(run),
        stepId: decodeURIComponent(step),
        attempt: Number(attempt),
      }
      const objects = steps.get(step) ?? { stepId: key.stepId, landings: [], states: [] }
      steps.set(step, objects)
      if (order === undefined) objects.landings.push(key)
      else objects.states.push(path)
    }
    return [...steps.values()].map((step) => ({ ...step, states: step.states.toSorted() }))
  }

  /** Settles the ends that exist. The landings that remain have no end. */
  async #settled(stepId?: string): Promise<StepObjects[]> {
    const steps = await this.#list(stepId)
    let isSettled = false
    for (const { landings, states } of steps) {
      for (const key of landings) {
        const end = await this.#files.read(endAt(key), endSchema)
        if (end === undefined) continue
        await this.#settle(key, end.content.last, states)
        isSettled = true
      }
    }
    return isSettled ? this.#settled(stepId) : steps
  }

  async #look(record: StepRecord): Promise<SinceLook> {
    const [step] = await this.#settled(record.stepId)
    if (step === undefined) return { last: {}, isLanding: false }
    const isLanding = step.landings.some((key) => nameOf(key) === nameOf(record))
    return { last: await this.#readLast(step), isLanding }
  }

  async #readLast({ stepId, states }: StepObjects): Promise<LastState> {
    const path = states.at(-1)
    if (path === undefined) return {}
    const found = await this.#files.read(path, stateSchema)
    if (found === undefined) return this.last(stepId) // a newer state has replaced the state that was found
    return { ...found.content, objects: states }
  }

  async #settle(key: AttemptKey, last: State | undefined, before: readonly MountPath[] = []): Promise<void> {
    if (last !== undefined) {
      const path = stateAt(key, last.order)
      await this.#files.write(path, last, 'absent')
      for (const old of before) if (old < path) await this.#files.remove(old)
    }
    await this.#files.remove(landingAt(key))
  }
}

interface StepObjects {
  readonly stepId: string
  readonly landings: AttemptKey[]
  readonly states: MountPath[] // sorted by order: the last path is the last state
}

const objectPattern = /^\/steps\/([^/]+)\/(?:landing|landed~(\d+))~([^/]+)~(\d+)\.json$/u

// Engines may choose names of runs: encode the names, so that no name becomes a path.
const fileAt = (...names: readonly string[]): MountPath =>
  paths.parseMount(`/${names.map((name) => encodeURIComponent(name)).join('/')}.json`, 'journal')
const digits = (number: number): string => String(number).padStart(10, '0')
const objectsOf = (stepId?: string): string =>
  stepId === undefined ? '/steps' : `/steps/${encodeURIComponent(stepId)}`
const landingAt = ({ runId, stepId, attempt }: AttemptKey): MountPath =>
  fileAt('steps', stepId, `landing~${runId}~${attempt}`)
const stateAt = ({ runId, stepId, attempt }: AttemptKey, order: number): MountPath =>
  fileAt('steps', stepId, `landed~${digits(order)}~${runId}~${attempt}`)
const endsOf = (runId: string): string => `/ends/${encodeURIComponent(runId)}`
const endAt = ({ runId, stepId, attempt }: AttemptKey): MountPath => fileAt('ends', runId, `${stepId}~${attempt}`)
const nameOf = ({ runId, stepId, attempt }: AttemptKey): string => `${runId}~${stepId}~${attempt}`
