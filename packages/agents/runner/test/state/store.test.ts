import { createLocalAdapter } from '@ws/adapter-local'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { type AdapterCapabilities, type StorageAdapter } from '@ws/core/adapter'
import { createRunner, defineStepType } from '@ws/runner'
import { describeWith } from '@ws/test-fixtures'
import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'

import { createSite, testTypes } from '../support.ts'
import { filesOf, put, stores } from './support.ts'

const plan = { version: 1, steps: [{ id: 'one', type: 'put', with: { a: 'new' }, outputs: ['a'] }] }

async function finishedSite() {
  const [workspace, output] = [createMemoryAdapter(), createMemoryAdapter()]
  const state = withConditions(createMemoryAdapter(), 'server')
  const types = testTypes
  await using runner = await createRunner({ workspace, output, state, types })
  await runner.run(plan)
  return { workspace, output, state, types }
}

/** Replaces the content of the first file whose path begins like this. */
async function tear(store: StorageAdapter, start: string, how: (text: string) => string): Promise<void> {
  const [path = '', text = ''] = Object.entries(await filesOf(store)).find(([one]) => one.startsWith(start)) ?? []
  expect(path).not.toBe('')
  await put(store, path, how(text))
}

describe('a journal in a store that cannot be trusted', () => {
  const tears: readonly (readonly [how: string, change: (text: string) => string])[] = [
    ['cut in its middle', (text) => text.slice(0, text.length / 2)],
    ['empty', () => ''],
    ['no JSON', () => '<Error>SlowDown</Error>'],
    ['another record', () => '{"nonce":"1","stepId":7}'],
    ['a list', () => '[]'],
  ]
  const objects = ['/version.json', '/steps/', '/runs/'] as const

  it.each(objects.flatMap((start) => tears.map(([how, change]) => [start, how, change] as const)))(
    'is EIO before anything runs, and nothing is overwritten, where %s is %s',
    async (start, _how, change) => {
      await using stack = new AsyncDisposableStack()
      const site = await finishedSite()
      await tear(site.state, start, change)
      const before = [await filesOf(site.output), await journalOf(site.state)]
      const began = vi.fn(async () => undefined)
      const types = { put: defineStepType({ settings: z.unknown(), run: began }) }
      const running = async () => {
        const runner = stack.use(await createRunner({ ...site, types }))
        return runner.run(plan, { force: true })
      }
      await expect(running()).rejects.toMatchObject({
        code: 'EIO',
        message: expect.stringContaining('the journal is damaged') as string,
      })
      expect(began).not.toHaveBeenCalled()
      expect([await filesOf(site.output), await journalOf(site.state)]).toEqual(before)
    },
  )

  it('is EIO where the end of a finished step is torn, and the step does not run again', async () => {
    const site = await finishedSite()
    await tear(site.state, '/runs/', (text) => text.replace('"done"', '"failed"'))
    await tear(site.state, '/ends/', (text) => text.slice(0, -20))
    const began = vi.fn(async () => undefined)
    const types = { put: defineStepType({ settings: z.unknown(), run: began }) }
    await using runner = await createRunner({ ...site, types })
    await expect(runner.run(plan, { resume: true })).rejects.toMatchObject({ code: 'EIO' })
    expect(began).not.toHaveBeenCalled()
  })

  it('is EINVAL where another version wrote it, and stays byte for byte', async () => {
    const site = await finishedSite()
    await put(site.state, '/version.json', '{"version":99,"more":[]}')
    const before = await filesOf(site.state)
    await expect(createRunner(site)).rejects.toMatchObject({
      code: 'EINVAL',
      message: expect.stringContaining('version 99, and this program knows version 2') as string,
    })
    expect(await filesOf(site.state)).toEqual(before)
  })
})

describe('[PM3] an adapter for the state', () => {
  it.each(['workspace', 'output'] as const)('is EINVAL where it is the %s, and nothing is written', async (which) => {
    const trees = { workspace: createMemoryAdapter(), output: createMemoryAdapter() }
    await expect(createRunner({ ...trees, state: trees[which] })).rejects.toMatchObject({
      code: 'EINVAL',
      message: expect.stringContaining('lies in the workspace or the output, or around one') as string,
    })
    expect(await filesOf(trees[which])).toEqual({})
  })

  it('is EINVAL where its directory lies in the workspace', async () => {
    await using site = await createSite({ files: { 'workspace/sub/a': 'A' } })
    await using local = await createLocalAdapter({ root: `${site.workspace}/sub` })
    await expect(site.runner({ state: withConditions(local, 'server') })).rejects.toMatchObject({
      code: 'EINVAL',
      message: expect.stringContaining('lies in the workspace or the output, or around one') as string,
    })
  })

  it.each(['none', 'process'] as const)('is EINVAL where conditions are checked by: %s', async (scope) => {
    const state = withConditions(createMemoryAdapter(), scope)
    const trees = { workspace: createMemoryAdapter(), output: createMemoryAdapter() }
    await expect(createRunner({ ...trees, state })).rejects.toMatchObject({
      code: 'EINVAL',
      message: expect.stringContaining('checks no conditions between machines') as string,
    })
    expect(await filesOf(state)).toEqual({})
  })

  it('is asked for, beside a directory, where the output has none', async () => {
    const trees = { workspace: createMemoryAdapter(), output: createMemoryAdapter() }
    await expect(createRunner(trees)).rejects.toMatchObject({
      code: 'EINVAL',
      remedy: expect.stringMatching(/directory on a local disk.*sibling prefix/u) as string,
    })
  })
})

describe('the lease of a run', () => {
  it('is waited for as long as that of a dead runner lasts, on a store only', async () => {
    const site = await finishedSite()
    await using onStore = await createRunner(site)
    await using disk = await createSite()
    for (const [runner, wait] of [[onStore, 45_000] as const, [await disk.runner({ types: testTypes }), 0] as const]) {
      const acquire = vi.spyOn(runner.leases, 'acquire')
      await runner.run(plan)
      expect(acquire).toHaveBeenCalledWith('run', expect.objectContaining({ wait }))
      await runner.run(plan, { wait: 7 })
      expect(acquire).toHaveBeenCalledWith('run', expect.objectContaining({ wait: 7 }))
    }
  })

  it('is EBUSY while another runner on the same store holds it', async () => {
    const site = await finishedSite()
    await using first = await createRunner(site)
    await using second = await createRunner(site)
    await using _lease = await first.leases.acquire('run')
    await expect(second.run(plan, { wait: 0 })).rejects.toMatchObject({ code: 'EBUSY' })
    await expect(second.run(plan, { signal: AbortSignal.timeout(20) })).rejects.toMatchObject({ name: 'TimeoutError' })
  })

  it('ends the run when it is lost: no further step begins, and nothing lands', async () => {
    const site = await finishedSite()
    const lost = new AbortController()
    const reason = new Error('the lease was lost')
    const lose = defineStepType({
      settings: z.unknown(),
      async run(_, context) {
        await context.write('b', 'late')
        lost.abort(reason)
        return undefined
      },
    })
    await using runner = await createRunner({ ...site, types: { ...testTypes, lose } })
    const { leases } = runner
    const acquire = leases.acquire.bind(leases)
    vi.spyOn(leases, 'acquire').mockImplementation(async (name) => {
      const lease = await acquire(name)
      return Object.defineProperty(lease, 'lost', { value: lost.signal })
    })
    const steps = [
      { id: 'two', type: 'lose', outputs: ['b'] },
      { id: 'three', type: 'put', with: { c: 'x' }, outputs: ['c'], needs: ['two'] },
    ]
    await expect(runner.run({ version: 1, steps })).rejects.toBe(reason)
    expect(await filesOf(site.output)).toEqual({ '/a': 'new' })
    expect((await runner.history())?.run.state).toBe('running')
  })
})

describe.each(stores)('a run whose output and state are on $name', ({ name, needs, make }) => {
  describeWith(needs, '', { tags: name === 'memory' ? [] : ['deep'] }, () => {
    it('goes on after an abort on another machine, and does no finished step again', async () => {
      await using store = await make()
      await put(await store.at('tree'), '/in', 'x')
      const began: string[] = []
      const abort = new AbortController()
      const machine = async (hangs: boolean) => {
        const work = defineStepType({
          settings: z.unknown(),
          async run(_, context) {
            began.push(context.stepId)
            await context.write(`${context.stepId}/f`, await context.read('in'))
            if (!hangs || context.stepId !== 's3') return context.stepId
            abort.abort(new Error('switched off'))
            return new Promise<undefined>(() => undefined)
          },
        })
        const [workspace, output] = [await store.at('tree'), await store.at('team/out')]
        return createRunner({ workspace, output, state: await store.at('team/state'), types: { work } })
      }
      const steps = Array.from({ length: 5 }, (_, index) => ({
        id: `s${index}`,
        type: 'work',
        inputs: ['in'],
        outputs: [`s${index}`],
        needs: index === 0 ? [] : [`s${index - 1}`],
      }))
      await using first = await machine(true)
      await expect(first.run({ version: 1, steps }, { signal: abort.signal })).rejects.toThrow('switched off')
      expect(began).toEqual(['s0', 's1', 's2', 's3'])

      await using second = await machine(false)
      const result = await second.run({ version: 1, steps }, { resume: true })
      expect(result).toMatchObject({ state: 'done', steps: { s0: { state: 'done' }, s4: { state: 'done' } } })
      expect(began.slice(4)).toEqual(['s3', 's4'])
      const files = Object.fromEntries(steps.map(({ id }) => [`/${id}/f`, 'x']))
      expect(await filesOf(await store.at('team/out'))).toEqual(files)

      await using third = await machine(false)
      const again = Object.values((await third.run({ version: 1, steps })).steps).map(({ state }) => state)
      expect(again).toEqual(Array.from(steps, () => 'current'))
      expect((await third.history())?.records).toHaveLength(5)
    })
  })
})

function withConditions(
  adapter: StorageAdapter,
  conditionalWrite: AdapterCapabilities['conditionalWrite'],
): StorageAdapter {
  // it takes the role of a store that several machines reach
  const capabilities = { ...adapter.capabilities, conditionalWrite, inProcess: false }
  return new Proxy(adapter, {
    get(target, name) {
      if (name === 'capabilities') return capabilities
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** Everything in the state but the leases. */
async function journalOf(state: StorageAdapter): Promise<Record<string, string>> {
  const found = Object.entries(await filesOf(state))
  return Object.fromEntries(found.filter(([path]) => !path.startsWith('/leases/')))
}
