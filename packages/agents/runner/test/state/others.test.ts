/** @module-tag deep */
import { createLocalAdapter } from '@ws/adapter-local'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { isWorkspaceError, paths } from '@ws/core'
import { wrapAdapter, type StorageAdapter } from '@ws/core/adapter'
import { createRunner, defineStepType } from '@ws/runner'
import type { StepTypes } from '../../src/types/types.ts'
import { createScratchDirectory, describeWith } from '@ws/test-fixtures'
import { seededRandom } from '@ws/test-fixtures/s3'
import { expect, it } from 'vitest'
import { z } from 'zod'

import { openObjectJournal } from '../../src/state/objects.ts'
import { Power } from './power.ts'
import { filesOf, put, stores, type Store } from './support.ts'

const seeds = 25

const plan = {
  version: 1,
  concurrency: 2,
  steps: [
    { id: 'tree', type: 'work', with: { files: ['a/1', 'a/deep/2'] }, inputs: ['in'], outputs: ['a'] },
    { id: 'files', type: 'work', with: { files: ['b1', 'b2'] }, inputs: ['in'], outputs: ['b1', 'b2'] },
    { id: 'value', type: 'work', with: { files: [] }, inputs: ['in'], needs: ['tree'] },
    { id: 'last', type: 'work', with: { files: ['c'] }, inputs: ['in'], outputs: ['c'], needs: ['value'] },
  ],
}
const ours = ['/a/1', '/a/deep/2', '/b1', '/b2', '/c']
const places = [...ours, '/a/3', '/b1/inside', '/free', '/c/inside']

function typesOf(began: string[]): StepTypes {
  const work = defineStepType({
    settings: z.strictObject({ files: z.array(z.string()) }),
    async run({ files }, context) {
      began.push(context.stepId)
      const text = Buffer.from(await context.read('in')).toString()
      for (const path of files) await context.write(path, `${path} ${text}`)
      return text
    },
  })
  return { work }
}

/** Another writer in the output, who acts right before some changes of a run. All that it wrote must stay. */
class Other {
  readonly theirs = new Map<string, string>()
  readonly #store: StorageAdapter
  readonly #random: () => number

  constructor(store: StorageAdapter, random: () => number) {
    this.#store = store
    this.#random = random
  }

  beside(output: StorageAdapter): StorageAdapter {
    return wrapAdapter(output, {
      name: 'beside',
      capabilities: output.capabilities,
      shared: true,
      call: async ({ operation }, run) => {
        if (operation === 'write' || operation === 'delete' || operation === 'createDirectory') await this.#act()
        return run()
      },
    })
  }

  async #act(): Promise<void> {
    if (this.#random() > 0.2) return
    const path = places[Math.floor(this.#random() * places.length)] ?? '/free'
    const text = `theirs ${this.#random()}`
    try {
      await put(this.#store, path, text)
      this.theirs.set(path, text)
    } catch (error) {
      // a file where a directory would have to be, or the other way round
      if (!isWorkspaceError(error)) throw error
    }
  }
}

async function killOnce(output: StorageAdapter, seed: number): Promise<void> {
  const random = seededRandom(seed)
  const [workspace, state] = [createMemoryAdapter(), createMemoryAdapter()]
  const trees = { workspace, output, state }
  await put(workspace, '/in', 'old')
  {
    await using runner = await createRunner({ ...trees, types: typesOf([]) })
    expect((await runner.run(plan)).state).toBe('done')
  }
  await put(workspace, '/in', 'new')

  const other = new Other(output, random)
  const power = new Power(1 + Math.floor(random() * 60), random() < 0.5 ? 'before' : 'behind')
  const began: string[] = []
  const cut = { workspace, output: power.of(other.beside(output)), state: power.of(state) }
  const first = createRunner({ ...cut, types: typesOf(began) }).then((runner) => runner.run(plan))
  await first.catch((error: unknown) => {
    if (power.isOn) throw error
  })

  const journal = await openObjectJournal(state)
  const last = await journal.lastRun()
  const records = last?.number === 2 ? await journal.records(last.runId) : []
  const finished = records.map(({ stepId }) => stepId)
  await state.delete(paths.parseMount('/leases'), { recursive: true, force: true })
  const again: string[] = []
  const resume = last?.number === 2 && last.state === 'running'
  await using runner = await createRunner({ ...trees, output: other.beside(output), types: typesOf(again) })
  // either each step that another writer is in the way of says so, or the run does before it begins
  const end = await runner.run(plan, { resume }).catch((error: unknown) => {
    expect(error).toMatchObject({ code: expect.stringMatching(/^(?:EEXIST|EINVAL)$/u) as unknown })
    expect(error).toMatchObject({ reason: expect.stringContaining('`/output/') as unknown })
  })
  for (const step of Object.values(end?.steps ?? {})) {
    if (step.state !== 'failed') continue
    const code: unknown = expect.stringMatching(/^(?:ECONFLICT|EEXIST)$/u)
    expect(step.failure).toMatchObject({ code, path: expect.stringMatching('^/output/') })
  }
  if (resume) expect(again.filter((step) => finished.includes(step))).toEqual([])
  expect(new Set(again).size).toBe(again.length)
  const found = await filesOf(output)
  expect(Object.fromEntries([...other.theirs.keys()].map((path) => [path, found[path]]))).toEqual(
    Object.fromEntries(other.theirs),
  )

  for (const path of other.theirs.keys()) {
    await output.delete(paths.parseMount(path.replace('/inside', '')), { recursive: true, force: true })
  }
  await using after = await createRunner({ ...trees, types: typesOf([]) })
  if (resume && end === undefined) expect((await after.run(plan, { resume })).state).toBe('done')
  // a finished step does not run again in its run, though what it wrote is gone
  expect((await after.run(plan)).state).toBe('done')
  expect(await journal.openLandings()).toEqual([])
  expect(await filesOf(output)).toEqual(Object.fromEntries(ours.map((path) => [path, `${path.slice(1)} new`])))
}

async function disk(): Promise<Store> {
  const scratch = await createScratchDirectory({ prefix: 'runner-' })
  const at = async (prefix: string) => createLocalAdapter({ root: await scratch.createDirectory(prefix) })
  return { at, [Symbol.asyncDispose]: () => scratch.remove() }
}

const kinds = [{ name: 'disk', needs: [], make: disk }, ...stores.filter(({ name }) => name === 'ceph')]

for (const { name, needs, make } of kinds) {
  describeWith(needs, `another writer in the output on ${name}`, () => {
    it(`[PM3] keeps what it wrote through ${seeds} runs that are killed, and no finished step runs twice`, {
      timeout: 600_000,
    }, async () => {
      await using store = await make()
      for (let seed = 1; seed <= seeds; seed += 1) {
        await expect(killOnce(await store.at(`out-${seed}`), seed), `seed ${seed}`).resolves.toBeUndefined()
      }
    })
  })
}
