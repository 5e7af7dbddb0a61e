import { paths } from '@ws/core'
import { describeWith } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'

import type { Landed, RunRecord, StepRecord } from '../../src/state/records.ts'
import { places, recordOf } from './support.ts'

const failed = (attempt: number, stepId = 'one'): StepRecord =>
  recordOf(
    { stepId, attempt },
    { outcome: { state: 'failed', attempt, files: 0, bytes: 0, failure: { message: 'no' } } },
  )
const landing = (record: StepRecord): StepRecord => ({ ...record, state: 'landing' })
const file = (path: string, hash = 'h') => ({ type: 'file', path, hash, size: 1 }) as const
const landedOf = (stepId: string, hash = 'h'): Landed => ({ stepId, entries: [file('a', hash)], value: { hash } })
const run = (number: number, more: Partial<RunRecord> = {}): RunRecord => {
  return { runId: `run-${number}`, number, planHash: 'p', state: 'running', startedAt: number, ...more }
}

describe.each(places)('the state of runs on $name', ({ name, needs, make }) => {
  describeWith(needs, '', { tags: name === 'r2' ? ['deep'] : name === 'ceph' ? ['all'] : [] }, () => {
    it('knows the last run, also behind the tenth, in every process', async () => {
      await using place = await make()
      const { journal } = await place.open()
      expect(await journal.lastRun()).toBeUndefined()
      for (let number = 1; number <= 11; number += 1) await journal.saveRun(run(number))
      await journal.saveRun(run(2, { state: 'failed' }))
      await journal.saveRun(run(11, { state: 'done', endedAt: 5 }))
      expect(await (await place.open()).journal.lastRun()).toEqual(run(11, { state: 'done', endedAt: 5 }))
    })

    it('never saves one run over another', async () => {
      await using place = await make()
      const { journal } = await place.open()
      await journal.saveRun(run(1))
      await expect(journal.saveRun({ ...run(1), runId: 'other' })).rejects.toThrow()
      expect(await journal.lastRun()).toEqual(run(1))
    })

    it('keeps the first end of an attempt: a second one is ECONFLICT, by any process', async () => {
      await using place = await make()
      const { journal } = await place.open()
      const { journal: other } = await place.open()
      const record = recordOf()
      await journal.saveEnd(record)
      for (const one of [journal, other]) {
        await expect(one.saveEnd(record)).rejects.toMatchObject({ code: 'ECONFLICT' })
        await expect(one.saveEnd(recordOf(), landedOf('one'))).rejects.toMatchObject({ code: 'ECONFLICT' })
        await expect(one.saveLanding(landing(record))).rejects.toMatchObject({ code: 'ECONFLICT' })
      }
      expect(await other.find(record)).toEqual(record)
      expect((await other.last('one')).landed).toBeUndefined()
      expect(await other.openLandings()).toEqual([])
    })

    it('lets exactly one of many ends at once win', async () => {
      await using place = await make()
      const { journal } = await place.open()
      const ends = Array.from({ length: 8 }, (_, index) =>
        journal.saveEnd(
          recordOf({}, { report: { ...recordOf().report, log: `${index}` } }),
          landedOf('one', `${index}`),
        ),
      )
      const won = (await Promise.allSettled(ends)).flatMap(({ status }, index) =>
        status === 'fulfilled' ? [index] : [],
      )
      expect(won).toHaveLength(1)
      expect((await journal.find(recordOf()))?.report.log).toBe(`${won[0]}`)
      expect((await journal.last('one')).landed).toEqual(landedOf('one', `${won[0]}`))
    })

    it('knows a landing until its end, and then the last state of the step', async () => {
      await using place = await make()
      const { journal } = await place.open()
      const record = recordOf({}, { entries: [file('a')] })
      await journal.saveLanding(landing(record))
      await journal.saveLanding(landing({ ...record, fingerprint: 'again' }))
      const { journal: other } = await place.open()
      expect(await other.openLandings()).toEqual([landing({ ...record, fingerprint: 'again' })])
      expect(await other.find(record)).toEqual(landing({ ...record, fingerprint: 'again' }))
      expect([(await other.last('one')).landed, await other.allLanded()]).toEqual([undefined, []])
      await other.saveEnd(record, landedOf('one'))
      expect(await journal.openLandings()).toEqual([])
      expect(await journal.find(record)).toEqual(record)
      expect((await journal.last('one')).landed).toEqual(landedOf('one'))
    })

    it('has no open landing any more where the attempt failed', async () => {
      await using place = await make()
      const { journal } = await place.open()
      await journal.saveLanding(landing(failed(1)))
      await journal.saveEnd(failed(1))
      expect(await journal.openLandings()).toEqual([])
      await journal.saveLanding(landing(failed(2)))
      await journal.saveEnd(failed(2))
      await journal.dropFailures('run-1') // no reader has asked for open landings since
      expect([await journal.openLandings(), await journal.find(failed(1))]).toEqual([[], undefined])
    })

    it('has the last state of every step, over all runs and processes', async () => {
      await using place = await make()
      const { journal } = await place.open()
      for (const runId of ['run-2', 'run-1', 'run-3']) {
        await journal.saveEnd(recordOf({ runId }), landedOf('one', runId))
        await journal.saveEnd(recordOf({ runId, stepId: 'two' }), landedOf('two', runId))
      }
      await journal.saveEnd(recordOf({ runId: 'run-4' })) // up to date: nothing landed
      const { journal: other } = await place.open()
      expect((await other.last('one')).landed).toEqual(landedOf('one', 'run-3'))
      const all = (await other.allLanded()).toSorted((a, b) => a.stepId.localeCompare(b.stepId))
      expect(all).toEqual([landedOf('one', 'run-3'), landedOf('two', 'run-3')])
      expect((await other.last('three')).landed).toBeUndefined()
    })

    it('forgets the failures of one run, and nothing else', async () => {
      await using place = await make()
      const { journal } = await place.open()
      const kept = [recordOf({ attempt: 3 }), landing(recordOf({ stepId: 'two' })), failed(1)]
      await journal.saveEnd({ ...failed(1), runId: 'run-0' })
      for (const record of [failed(1), failed(2)]) await journal.saveEnd(record)
      await journal.saveEnd(recordOf({ attempt: 3 }))
      await journal.saveLanding(landing(recordOf({ stepId: 'two' })))
      await journal.dropFailures('run-1')
      const left = (await journal.records('run-1')).toSorted((a, b) => a.stepId.localeCompare(b.stepId))
      expect(left).toEqual(kept.slice(0, 2))
      expect(await journal.records('run-0')).toHaveLength(1)
      await journal.saveEnd(failed(1))
      expect(await journal.find(failed(1))).toEqual(failed(1))
    })

    it('tells names apart that look alike', async () => {
      await using place = await make()
      const { journal } = await place.open()
      const keys = ['a', 'a.b', 'a-1', 'A', 'x%2Fy', 'run~1', '1'].map((runId) => ({
        runId,
        stepId: 's.t',
        attempt: 12,
      }))
      for (const key of keys) await journal.saveLanding(landing(recordOf(key)))
      for (const key of keys) expect((await journal.records(key.runId)).map(({ runId }) => runId)).toEqual([key.runId])
      for (const key of keys) await journal.saveEnd(recordOf(key))
      for (const key of keys) expect(await journal.find(key)).toEqual(recordOf(key))
    })

    it('keeps staging between processes, empties it on demand, and sweeps what is not kept', async () => {
      await using place = await make()
      const state = await place.open()
      const [one, two] = [recordOf(), recordOf({ stepId: 'two' })]
      const path = paths.parseMount('/deep/f')
      for (const key of [one, two]) {
        await using stack = new AsyncDisposableStack()
        const staging = stack.adopt(await state.openStaging(key, { fresh: true }), (opened) => opened.close())
        await staging.adapter.write(path, Buffer.from(key.stepId), { parents: true })
      }
      const other = await place.open()
      const text = async (key: StepRecord, fresh: boolean): Promise<string | undefined> => {
        const staging = await other.openStaging(key, { fresh })
        const found = await staging.adapter.read(path).catch(() => undefined)
        await staging.close()
        return found && Buffer.from(found.bytes).toString()
      }
      expect([await text(one, false), await text(two, false)]).toEqual(['one', 'two'])
      await other.sweep([two])
      expect([await text(one, false), await text(two, false)]).toEqual([undefined, 'two'])
      expect(await text(two, true)).toBeUndefined()
      await other.removeStaging(two)
      await other.removeStaging(two)
      await other.sweep([])
    })

    it('lets one runner at a time hold a lease', async () => {
      await using place = await make()
      const [first, second] = [await place.open(), await place.open()]
      const lease = await first.leases.acquire('run')
      await expect(second.leases.acquire('run')).rejects.toMatchObject({ code: 'EBUSY' })
      await lease.release()
      await (await second.leases.acquire('run')).release()
      await Promise.all([first.close(), second.close()])
    })
  })
})
