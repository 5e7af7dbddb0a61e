import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { defineStepType } from '@ws/runner'
import { component, describeWith } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'

import { commands, createSite, testTypes, treeOf } from './support.ts'

describe('a run', () => {
  it('does steps in the order of their needs, and lands their outputs', async () => {
    await using site = await createSite({ files: { 'workspace/src/a.txt': 'A' } })
    const runner = await site.runner({ types: testTypes })
    const result = await runner.run({
      version: 1,
      steps: [
        {
          id: 'last',
          type: 'copy',
          with: { from: 'out/b.txt', to: 'deep/c.txt' },
          inputs: ['out/b.txt'],
          outputs: ['deep'],
        },
        { id: 'first', type: 'copy', with: { from: 'src/a.txt', to: 'b.txt' }, inputs: ['src'], outputs: ['b.txt'] },
      ],
    })
    expect(result).toMatchObject({
      state: 'done',
      steps: { first: { state: 'done', files: 1, bytes: 1 }, last: { state: 'done' } },
    })
    expect(await treeOf(site.output)).toEqual({ 'b.txt': 'A', deep: 'directory', 'deep/c.txt': 'A' })
  })

  it('names the faults that show on the disk beside all others, and none of inputs that a wrong step may write', async () => {
    await using site = await createSite({ files: { 'workspace/out/mine': 'x' } })
    const runner = await site.runner({ types: testTypes })
    const plan = `version: 1
steps:
  - { id: a, type: nothing, needs: [b], inputs: [../x, missing] }
  - { id: c, type: nothing, output: [made], inputs: [out/made], outputs: [mine] }
  - { id: d, type: nothing, inputs: [out/made, gone] }\n`
    const { problems } = await runner.check(plan)
    expect(problems.map(({ line, code, reason }) => [line, code, reason])).toEqual([
      [4, 'EINVAL', expect.stringContaining('Unrecognized key: "output"')],
      [3, 'EINVAL', expect.stringContaining('`needs` names `b`')],
      [3, 'ESECURITY', expect.stringContaining('climbs')],
      [3, 'ENOENT', 'the input `/workspace/missing` is missing'],
      [4, 'EEXIST', expect.stringContaining('the output `/output/mine` exists')],
      [5, 'ENOENT', 'the input `/workspace/gone` is missing'],
    ])
    await expect(runner.run(plan)).rejects.toMatchObject({ reason: expect.stringMatching(/output"[^]*gone/u) })
  })

  it('takes over a step whose inputs, settings and outputs are as they were, unless it is forced', async () => {
    await using site = await createSite({ files: { 'workspace/a': '1' } })
    const runner = await site.runner({ types: testTypes })
    const plan = {
      version: 1,
      steps: [{ id: 'one', type: 'copy', with: { from: 'a', to: 'b' }, inputs: ['a'], outputs: ['b'] }],
    }
    const states = async (force = false) => (await runner.run(plan, { force })).steps['one']?.state
    expect([await states(), await states(), await states(true)]).toEqual(['done', 'current', 'done'])
    await site.write('workspace/a', '2')
    expect(await states()).toBe('done')
    expect(await site.read('workspace/out/b')).toBe('2')
  })

  it('[HO5] does a step again whose inputs hold a name that no path has: a change of it would not show', async () => {
    await using site = await createSite({ files: { 'workspace/src/a': '1' } })
    await writeFile(Buffer.concat([Buffer.from(`${site.workspace}/src/f`), Buffer.of(0xff)]), 'unread')
    const runner = await site.runner({ types: testTypes })
    const plan = {
      version: 1,
      steps: [{ id: 'one', type: 'copy', with: { from: 'src/a', to: 'b' }, inputs: ['src'], outputs: ['b'] }],
    }
    const state = async () => (await runner.run(plan)).steps['one']?.state
    expect([await state(), await state()]).toEqual(['done', 'done'])
  })

  it('tries a step again as often as the plan says, and keeps nothing of failed attempts', async () => {
    await using site = await createSite()
    let calls = 0
    const flaky = {
      ...testTypes['nothing'],
      async run(_settings: unknown, context: { write(path: string, data: string): Promise<void> }) {
        calls += 1
        await context.write('a', `attempt ${calls}`)
        if (calls < 3) throw new Error('not yet')
        return calls
      },
    }
    const runner = await site.runner({ types: { ...testTypes, flaky } as never })
    const result = await runner.run({
      version: 1,
      steps: [{ id: 'one', type: 'flaky', outputs: ['a'], retry: { attempts: 3, delay: 1 } }],
    })
    expect(result.steps['one']).toMatchObject({ state: 'done', attempt: 3, value: 3 })
    expect(await treeOf(site.output)).toEqual({ a: 'attempt 3' })
  })

  it('skips the steps behind a failed one, and goes on with the others where the plan says so', async () => {
    await using site = await createSite()
    const runner = await site.runner({ types: testTypes })
    const plan = {
      version: 1,
      concurrency: 1,
      steps: [
        { id: 'bad', type: 'fail' },
        { id: 'behind', type: 'nothing', needs: ['bad'] },
        { id: 'beside', type: 'put', with: { a: 'x' }, outputs: ['a'] },
      ],
    }
    const stopped = await runner.run(plan)
    expect(stopped).toMatchObject({
      state: 'failed',
      steps: { bad: { state: 'failed' }, beside: { state: 'skipped' } },
    })
    const went = await runner.run({ ...plan, onFailure: 'continue' })
    expect(went.steps).toMatchObject({ behind: { state: 'skipped', because: 'bad' }, beside: { state: 'done' } })
  })

  it('ends a step after its timeout', async () => {
    await using site = await createSite()
    const forever = { ...testTypes['nothing'], run: () => new Promise<undefined>(() => undefined) }
    const runner = await site.runner({ types: { forever } as never })
    const result = await runner.run({ version: 1, steps: [{ id: 'one', type: 'forever', timeout: 20 }] })
    expect(result.steps['one']).toMatchObject({
      state: 'failed',
      failure: { message: expect.stringContaining('20 ms') },
    })
  })
})

describe('native errors of a type of step', () => {
  it('name no place of this machine, in the result that the history keeps', async () => {
    await using site = await createSite()
    const settings = z.strictObject({ at: z.string() })
    const native = defineStepType({
      settings,
      run: async ({ at }) => void (await readFile(at)),
    })
    const telling = defineStepType({
      settings,
      run: async ({ at }) => {
        throw new Error(`cannot make ${at}/x.pdf`)
      },
    })
    const runner = await site.runner({ types: { native, telling } })
    const result = await runner.run({
      version: 1,
      onFailure: 'continue',
      steps: [
        { id: 'one', type: 'native', with: { at: join(site.state, 'missing') } },
        { id: 'two', type: 'telling', with: { at: site.output } },
      ],
    })
    expect(result.steps).toMatchObject({
      one: {
        failure: { code: 'ENOENT', message: expect.stringMatching(/^ENOENT: no such file or directory, .*`open`/u) },
      },
      two: { failure: { message: 'cannot make /output/x.pdf' } },
    })
    expect(JSON.stringify(result)).not.toContain(site.directory)
  })
})

describeWith(component('bubblewrap'), 'commands in a run', () => {
  it('read their inputs and write their outputs', async () => {
    await using site = await createSite({ files: { 'workspace/src/a.txt': 'abc' } })
    const runner = await site.runner(commands)
    const result = await runner.run(`
version: 1
steps:
  - id: count
    type: command
    inputs: [src]
    outputs: [count.txt, parts]
    with: { run: 'wc -c < src/a.txt > {output_path}/count.txt && mkdir $OUTPUT/parts && cp src/a.txt /output/parts/' }
`)
    expect(result.steps['count']).toMatchObject({ state: 'done' })
    expect(await treeOf(site.output)).toEqual({ 'count.txt': '3\n', parts: 'directory', 'parts/a.txt': 'abc' })
  })

  it('end with their step, background commands included: what would come later never lands', async () => {
    await using site = await createSite()
    const leave = defineStepType({
      settings: z.strictObject({}),
      async run(_, context) {
        const workspace = await context.workspace()
        await workspace.start('sleep 0.2; echo late > $OUTPUT/got; echo late > $OUTPUT/late', { cwd: '/output' })
        await context.write('got', 'in time')
        return undefined
      },
    })
    const runner = await site.runner({ ...commands, types: { leave } })
    const result = await runner.run({ version: 1, steps: [{ id: 'one', type: 'leave', outputs: ['got'] }] })
    expect(result.steps['one']).toMatchObject({ state: 'done' })
    expect(await treeOf(site.output)).toEqual({ got: 'in time' })
  })

  it('fail with the last line of their errors, and land nothing', async () => {
    await using site = await createSite()
    const runner = await site.runner(commands)
    const step = {
      id: 'one',
      type: 'command',
      outputs: ['a'],
      with: { run: 'echo x > $OUTPUT/a; echo oh >&2; exit 3' },
    }
    const result = await runner.run({ version: 1, steps: [step] })
    expect(result.steps['one']).toMatchObject({ failure: { message: expect.stringMatching(/exit status 3: oh/u) } })
    expect(await treeOf(site.output)).toEqual({})
  })
})
