import { isWorkspaceError, WorkspaceError } from '@ws/core'
import { forEachOf, mapInOrder, parseMountPath, type MountPath, type StorageAdapter } from '@ws/core/adapter'
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

const concurrency = 16

/** `order` is greatest in the last state of a step. Between equal orders, the attempt's name in `by` decides. */
const lastSchema = z.object({ order: z.int(), by: z.string(), landed: landedSchema })
type Last = z.output<typeof lastSchema>

const endSchema = z.object({ record: recordSchema, last: lastSchema.optional() })
const landingSchema = z.object({ record: recordSchema })
const runFileSchema = z.object({ run: runSchema })

/** A journal of objects in a store with conditions. @throws WorkspaceError `EINVAL` of another version, `EIO` if damaged */
export async function openObjectJournal(adapter: StorageAdapter): Promise<Journal> {
  const marker = parseMountPath('/version.json', 'openJournal')
  const bytes = Buffer.from(`${JSON.stringify({ version: journalVersion })}\n`)
  try {
    await adapter.write(marker, bytes, { ifVersion: 'absent', parents: true })
  } catch (error) {
    if (!isWorkspaceError(error, 'ECONFLICT')) throw error
    const { version } = parse((await adapter.read(marker)).bytes, z.object({ version: z.number() }))
    if (version !== journalVersion) throw otherVersion(version)
  }
  return new ObjectJournal(new ObjectFiles(adapter))
}

/**
 * Objects:
 * - `runs/NUMBER.json`: a run;
 * - `landings/STEP/RUN~ATTEMPT.json`: an unsettled landing;
 * - `ends/RUN/STEP~ATTEMPT.json`: the end of an attempt, created once, with the step's last state if it landed;
 * - `landed/STEP.json`: the last state of a step.
 * **The order of `saveEnd`**: create the end, update `landed`, remove the landing. The creation of the end decides.
 * A crash before the creation leaves an open landing. After a later crash, the next reader of the landing finds and settles the end.
 * Settling can be repeated, and never replaces a newer state. So a step reads its own few objects, never the history.
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
    const path = fileAt('runs', String(run.number).padStart(10, '0'))
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
    // Read the landing first: a landing that vanishes meanwhile has its end.
    const landing = await this.#files.read(landingAt(key), landingSchema)
    const end = await this.#files.read(endAt(key), endSchema)
    return (end ?? landing)?.content.record
  }

  async records(runId: string): Promise<StepRecord[]> {
    const found = new Map<string, StepRecord>()
    for (const key of await this.#landings()) {
      if (key.runId !== runId) continue
      const record = await this.find(key)
      if (record !== undefined) found.set(nameOf(key), record)
    }
    const read = (path: MountPath) => this.#files.read(path, endSchema)
    for await (const end of mapInOrder(this.#files.list(endsOf(runId)), concurrency, read)) {
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
    // read after the write: a later end is settled with its landing
    if ((await this.#files.read(endAt(record), endSchema)) !== undefined) throw endedAlready(record)
  }

  async saveEnd(record: StepRecord, landed?: Landed, since?: SinceLook): Promise<void> {
    if (landed === undefined) return this.#createEnd(record)
    const by = nameOf(record)
    const { last: before, isLanding } = since ?? (await this.#look(record))
    if (!isLanding) {
      await this.#files.write(landingAt(record), { record: { ...record, state: 'landing' } }, 'absent')
    }
    const last: Last = { order: (before.order ?? 0) + 1, by, landed }
    await this.#createEnd(record, last)
    // The end is saved. If settling fails, the next reader of last states repeats it.
    await this.#settle(record, last, before).catch(() => undefined)
  }

  /** A crash can leave some failures. No step runs before a further call has removed these failures. */
  async dropFailures(runId: string): Promise<StepRecord[]> {
    const kept: StepRecord[] = []
    await forEachOf(this.#files.list(endsOf(runId)), concurrency, async (path) => {
      const end = await this.#files.read(path, endSchema)
      if (end === undefined) return
      if (end.content.record.outcome.state !== 'failed') {
        kept.push(end.content.record)
        return
      }
      // settle first: without its end the landing would be open again, and its landed files unknown
      await this.#settle(end.content.record, end.content.last)
      await this.#files.remove(path)
    })
    return kept
  }

  async openLandings(): Promise<StepRecord[]> {
    const open: StepRecord[] = []
    for (const key of await this.#settled()) {
      const record = await this.find(key)
      if (record?.state === 'landing') open.push(record)
    }
    return open
  }

  async last(stepId: string): Promise<LastState> {
    await this.#settled(stepId)
    return this.#readLast(stepId)
  }

  async allLanded(): Promise<Landed[]> {
    await this.#settled()
    const found: Landed[] = []
    const read = (path: MountPath) => this.#files.read(path, lastSchema)
    for await (const last of mapInOrder(this.#files.list('/landed'), concurrency, read)) {
      if (last !== undefined) found.push(last.content.landed)
    }
    return found
  }

  async close(): Promise<void> {}

  async #createEnd(record: StepRecord, last?: Last): Promise<void> {
    if (await this.#files.write(endAt(record), { record, last }, 'absent')) return
    throw endedAlready(record)
  }

  async #landings(stepId?: string): Promise<AttemptKey[]> {
    const keys: AttemptKey[] = []
    for await (const path of this.#files.list(landingsOf(stepId))) {
      const [, step = '', run = '', attempt = ''] = landingPattern.exec(path) ?? []
      if (attempt === '') throw damaged()
      keys.push({ runId: decodeURIComponent(run), stepId: decodeURIComponent(step), attempt: Number(attempt) })
    }
    return keys
  }

  /** Completes the work of created ends; returns the landings without an end. */
  async #settled(stepId?: string): Promise<AttemptKey[]> {
    const open: AttemptKey[] = []
    for (const key of await this.#landings(stepId)) {
      const end = await this.#files.read(endAt(key), endSchema)
      if (end === undefined) open.push(key)
      else await this.#settle(key, end.content.last)
    }
    return open
  }

  async #look(record: StepRecord): Promise<SinceLook> {
    const landings = await this.#settled(record.stepId)
    const by = nameOf(record)
    return { last: await this.#readLast(record.stepId), isLanding: landings.some((key) => nameOf(key) === by) }
  }

  async #readLast(stepId: string): Promise<LastState> {
    const found = await this.#files.read(lastAt(stepId), lastSchema)
    return { landed: found?.content.landed, order: found?.content.order, version: found?.version }
  }

  async #settle(key: AttemptKey, last: Last | undefined, before?: LastState): Promise<void> {
    if (last !== undefined) await this.#advance(last, before)
    await this.#files.remove(landingAt(key))
  }

  async #advance(last: Last, before?: LastState): Promise<void> {
    const path = lastAt(last.landed.stepId)
    if (before !== undefined && (await this.#files.write(path, last, before.version ?? 'absent'))) return
    for (;;) {
      const found = await this.#files.read(path, lastSchema)
      if (found !== undefined && !isBefore(found.content, last)) return
      if (await this.#files.write(path, last, found?.version ?? 'absent')) return
    }
  }
}

const landingPattern = /^\/landings\/([^/]+)\/([^/]+)~(\d+)\.json$/u

// Engines may name runs: encode the names, so that they form no paths.
const fileAt = (...names: readonly string[]): MountPath =>
  parseMountPath(`/${names.map((name) => encodeURIComponent(name)).join('/')}.json`, 'journal')
const landingsOf = (stepId?: string): string =>
  stepId === undefined ? '/landings' : `/landings/${encodeURIComponent(stepId)}`
const landingAt = ({ runId, stepId, attempt }: AttemptKey): MountPath =>
  fileAt('landings', stepId, `${runId}~${attempt}`)
const endsOf = (runId: string): string => `/ends/${encodeURIComponent(runId)}`
const endAt = ({ runId, stepId, attempt }: AttemptKey): MountPath => fileAt('ends', runId, `${stepId}~${attempt}`)
const lastAt = (stepId: string): MountPath => fileAt('landed', stepId)
const nameOf = ({ runId, stepId, attempt }: AttemptKey): string => `${runId}~${stepId}~${attempt}`

function isBefore(one: Last, other: Last): boolean {
  return one.order < other.order || (one.order === other.order && one.by < other.by)
}
