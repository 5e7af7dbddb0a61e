/** @module-tag all */
import { createMemoryAdapter } from '@ws/adapter-memory'
import { paths } from '@ws/core'
import { createRunner, defineStepType } from '@ws/runner'
import type { StepTypes } from '../../src/types/types.ts'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'

import { openObjectJournal } from '../../src/state/objects.ts'
import { Power } from './power.ts'
import { filesOf, put, recordOf } from './support.ts'

const plan = {
  version: 1,
  concurrency: 1,
  steps: [
    { id: 'files', type: 'work', with: { from: 'in' }, inputs: ['in'], outputs: ['d'] },
    { id: 'value', type: 'work', with: { from: 'in' }, inputs: ['in'] },
    { id: 'more', type: 'work', with: { from: 'in' }, inputs: ['in'], outputs: ['e.txt'], needs: ['value'] },
  ],
}

/** Steps that write files named after their input, and that record when they run. */
function typesOf(began: string[]): StepTypes {
  const work = defineStepType({
    settings: z.strictObject({ from: z.string() }),
    async run({ from }, context) {
      began.push(context.stepId)
      const text = Buffer.from(await context.read(from)).toString()
      if (context.stepId === 'files') for (const part of ['x', 'y']) await context.write(`d/${part}-${text}`, text)
      if (context.stepId === 'more') await context.write('e.txt', text)
      return text
    },
  })
  return { work }
}

/** An output with one finished run, and an input that has changed since. */
async function startingSite() {
  const [workspace, output, state] = [createMemoryAdapter(), createMemoryAdapter(), createMemoryAdapter()]
  await put(workspace, '/in', 'old')
  await using runner = await createRunner({ workspace, output, state, types: typesOf([]) })
  await runner.run(plan)
  await put(workspace, '/in', 'new')
  return { workspace, output, state }
}

async function undisturbed(): Promise<{ files: Record<string, string>; changes: number }> {
  const { workspace, output, state } = await startingSite()
  const power = new Power(Infinity, 'before')
  const trees = { workspace, output: power.of(output), state: power.of(state) }
  await using runner = await createRunner({ ...trees, types: typesOf([]) })
  await runner.run(plan)
  return { files: await filesOf(output), changes: power.changes }
}

describe('a run whose power is cut at any change', () => {
  it.each(['before', 'behind'] as const)(
    'resumes from its store, right %s: no finished step runs again, and every last state is there',
    async (where) => {
      const whole = await undisturbed()
      expect(whole.files).toEqual({ '/d/x-new': 'new', '/d/y-new': 'new', '/e.txt': 'new' })
      expect(whole.changes).toBeGreaterThan(30)
      for (let last = 1; last <= whole.changes; last += 1) {
        const site = await startingSite()
        const power = new Power(last, where)
        const began: string[] = []
        const trees = { workspace: site.workspace, output: power.of(site.output), state: power.of(site.state) }
        const runs = createRunner({ ...trees, types: typesOf(began) }).then((runner) => runner.run(plan))
        const moment = `change ${last} of ${whole.changes}`
        await runs.catch((error: unknown) => expect(error, moment).toMatchObject({ message: 'the power is off' }))
        await power.lose()

        const journal = await openObjectJournal(site.state)
        const { runId = '', number = 0, state } = (await journal.lastRun()) ?? {}
        const ended = (await journal.records(runId)).filter((record) => record.state === 'ended')
        const done = ended.map(({ stepId }) => stepId)
        // as when the time of the dead process's lease is over
        await site.state.delete(paths.parseMount('/leases'), { recursive: true })
        const again: string[] = []
        await using runner = await createRunner({ ...site, types: typesOf(again) })
        const resume = number === 2 && state === 'running'
        expect((await runner.run(plan, { resume })).state, moment).toBe('done')
        if (resume)
          expect(
            again.filter((step) => done.includes(step)),
            moment,
          ).toEqual([])
        expect(await filesOf(site.output), moment).toEqual(whole.files)
        expect(await journal.openLandings(), moment).toEqual([])

        const third = await runner.run(plan)
        expect(
          Object.values(third.steps).map((end) => end.state),
          moment,
        ).toEqual(['current', 'current', 'current'])
        const left = Object.keys(await filesOf(site.state)).filter((path) => /^\/staging\/|\/landing~/u.test(path))
        expect(left, moment).toEqual([])
      }
    },
  )
})

it('an old end never goes over a newer one, though it is settled late', async () => {
  const store = createMemoryAdapter()
  const journal = await openObjectJournal(store)
  const landed = (text: string) => ({ stepId: 'one', entries: [], value: text })
  // the first process falls silent after its end; the second settles that, and ends another run
  let wake = (): void => undefined
  const asleep = new Promise<void>((resolve) => (wake = resolve))
  let fallsAsleep = (): void => undefined
  const sleeping = new Promise<void>((resolve) => (fallsAsleep = resolve))
  const slow = new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      const call = value.bind(target) as (...given: unknown[]) => unknown
      if (name !== 'write') return call
      return async (path: string, ...given: unknown[]) => {
        if (path.includes('/landed~')) {
          fallsAsleep()
          await asleep
        }
        return call(path, ...given)
      }
    },
  })
  const late = (await openObjectJournal(slow)).saveEnd(recordOf({ runId: 'z' }), landed('old'))
  await sleeping
  expect((await journal.last('one')).landed).toEqual(landed('old'))
  await journal.saveEnd(recordOf({ runId: 'a' }), landed('new'))
  wake()
  await late
  expect((await journal.last('one')).landed).toEqual(landed('new'))
  expect(Object.keys(await filesOf(store)).filter((path) => path.includes('/landing~'))).toEqual([])
})
