import { existsSync } from 'node:fs'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'

import { createVirtualExecutor } from '@ws/executor-virtual'
import { defineStepType, type RunnerOptions } from '@ws/runner'
import type { StepContext } from '../../src/types/types.ts'
import { createCheckpoints } from '@ws/snapshots'
import { component, createScratchDirectory, describeWith } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'

import { commands, createSite, treeOf, type Site } from '../support.ts'

const step = (run: (context: StepContext) => Promise<unknown>) => ({
  types: {
    try: defineStepType({ settings: z.strictObject({}), run: async (_, context) => void (await run(context)) }),
  },
})

const files = { 'workspace/src/a.txt': 'A', 'workspace/secret.txt': 'S', 'outside.txt': 'O' }

/** Runs one step that reads `src` and writes `a.txt`, and gives its end. */
async function end(site: Site, options: Partial<RunnerOptions>, more: object = {}) {
  const runner = await site.runner(options)
  const one = { id: 'one', type: 'try', inputs: ['src'], outputs: ['a.txt'], ...more }
  return (await runner.run({ version: 1, steps: [one] })).steps['one']
}

describe('the file door of a step', () => {
  const breaches: readonly (readonly [title: string, run: (context: StepContext) => Promise<unknown>, rule: string])[] =
    [
      ['reads what is not an input', (context) => context.read('secret.txt'), 'inputs'],
      ['reads above the workspace', (context) => context.read('../outside.txt'), 'withinWorkspace'],
      ['reads the system', (context) => context.read('/etc/passwd'), 'withinWorkspace'],
      ['reads by a link', (context) => context.read('src/link'), 'inputs'],
      ['writes what is not an output', (context) => context.write('b.txt', 'x'), 'outputs'],
      ['writes above the output', (context) => context.write('../b.txt', 'x'), 'withinOutput'],
      ['writes an input', (context) => context.write('/workspace/src/a.txt', 'x'), 'withinOutput'],
      [
        'writes an input by the workspace',
        async (context) => (await context.workspace()).write('/workspace/src/a.txt', 'x'),
        'inputs',
      ],
      ['writes beside its output', async (context) => (await context.workspace()).write('/output/c', 'x'), 'outputs'],
      ['deletes an input', async (context) => (await context.workspace()).delete('/workspace/src/a.txt'), 'inputs'],
      [
        'lists what is not an input',
        async (context) => (await context.workspace()).list('/workspace').next(),
        'inputs',
      ],
      [
        'moves an input away',
        async (context) => (await context.workspace()).move('/workspace/src/a.txt', '/output/a.txt'),
        'inputs',
      ],
    ]

  it.each(breaches)(
    '[PM3, PM4, PM9] a step that %s fails with ESECURITY and touches nothing',
    async (_title, run, rule) => {
      await using site = await createSite({ files })
      await symlink('../secret.txt', join(site.workspace, 'src/link'))
      const before = await treeOf(site.workspace)
      // the step goes on after the error, as a careless one does
      const tries = async (context: StepContext): Promise<void> => {
        await run(context).catch(() => undefined)
        await context.write('a.txt', 'written all the same').catch(() => undefined)
      }
      const without = { inputs: ['src/a.txt'] }
      const isLink = _title.includes('link')
      const found = await end(site, step(tries), isLink ? {} : without)
      expect(found).toMatchObject({ state: 'failed', failure: { code: 'ESECURITY' } })
      expect((found as { failure: { rule: string } }).failure.rule).toContain(rule)
      expect(await treeOf(site.workspace)).toEqual(before)
    },
  )

  it('[PM3] stops the run after a breach, or goes on as the plan says', async () => {
    await using site = await createSite({ files })
    const runner = await site.runner(step((context) => context.read('secret.txt')))
    const plan = (onBreach: string) => ({
      version: 1,
      concurrency: 1,
      onBreach,
      steps: [
        { id: 'bad', type: 'try', retry: { attempts: 3 } },
        { id: 'good', type: 'tool', outputs: ['g'], with: { tool: 'write', arguments: { path: 'g', content: 'G' } } },
      ],
    })
    const stopped = await runner.run(plan('stop'))
    expect(stopped.steps).toMatchObject({
      bad: { attempt: 1, failure: { code: 'ESECURITY' } },
      good: { state: 'skipped' },
    })
    const went = await runner.run(plan('continue'))
    expect(went.steps['good']).toMatchObject({ state: 'done' })
    expect(await site.read('workspace/out/g')).toBe('G')
  })

  it('[PM4] the reading side starts at the workspace, the writing side at the output', async () => {
    await using site = await createSite({ files })
    const found = await end(
      site,
      step(async (context) => context.write('out/a.txt', await context.read('src/a.txt'))),
    )
    expect(found).toMatchObject({ state: 'done' })
    expect(await treeOf(site.output)).toEqual({ 'a.txt': 'A' })
  })

  it('[PM5] writes into the workspace by a declared exception only', async () => {
    await using site = await createSite({ files: { ...files, 'workspace/cache/x': 'old' } })
    const write = async (context: StepContext) => (await context.workspace()).write('/workspace/cache/x', 'new')
    expect(await end(site, step(write), { outputs: [] })).toMatchObject({ failure: { code: 'ESECURITY' } })
    const exceptions = [{ path: 'cache', justification: 'the compiler keeps its cache there' }]
    expect(await end(site, step(write), { outputs: [], exceptions })).toMatchObject({ state: 'done' })
    expect(await site.read('workspace/cache/x')).toBe('new')
    const beside = async (context: StepContext) => (await context.workspace()).write('/workspace/src/a.txt', 'new')
    expect(await end(site, step(beside), { outputs: [], exceptions })).toMatchObject({ failure: { code: 'ESECURITY' } })
  })

  it('[PM9] reads nothing of an output that lies elsewhere', async () => {
    await using site = await createSite({ output: 'elsewhere', files })
    const found = await end(
      site,
      step((context) => context.read('{output_path}/a.txt')),
    )
    expect(found).toMatchObject({ failure: { code: 'ESECURITY' } })
  })
})

const doors = [
  ['bubblewrap', commands],
  ['virtual', { executors: [createVirtualExecutor()] }],
] as const

describe.each(doors)('the command door of a step under %s', (name, options) => {
  const run = (site: Site, line: string, more: object = {}) =>
    end(site, options, { type: 'command', with: { run: line }, ...more })

  describeWith(component('bubblewrap'), '', () => {
    it('[PM3] reads nothing but the inputs', async () => {
      await using site = await createSite({ files })
      await symlink('../secret.txt', join(site.workspace, 'src/link'))
      const line = 'cat src/a.txt secret.txt src/link ../../outside.txt > $OUTPUT/a.txt 2>/dev/null; true'
      const found = await run(site, line, { inputs: ['src/a.txt'] })
      // the virtual executor works through the file door, where a denial is a breach
      if (name === 'virtual') expect(found).toMatchObject({ failure: { code: 'ESECURITY' } })
      else expect(await treeOf(site.output)).toEqual({ 'a.txt': 'A' })
    })

    it('[PM3, PM9] writes nothing but the outputs', async () => {
      await using site = await createSite({ files })
      const before = await treeOf(site.workspace)
      for (const target of ['src/a.txt', 'new.txt', '/workspace/out/x', '/output/b.txt']) {
        const found = await run(site, `echo x > a; echo x > $OUTPUT/a.txt; echo x > ${target}`)
        expect(found, target).toMatchObject({ state: 'failed', failure: { code: 'ESECURITY' } })
      }
      expect(await treeOf(site.workspace)).toEqual(before)
    })

    it('[HO4] looks for a refusal in long words in time that does not multiply', async () => {
      await using site = await createSite({ files })
      const line = 'i=0; w=aaaaaaaa; while [ $i -lt 16 ]; do w=$w$w; i=$((i+1)); done; echo $w >&2; exit 1'
      const start = performance.now()
      expect(await run(site, line)).toMatchObject({ failure: { code: 'EIO' } })
      expect(performance.now() - start).toBeLessThan(15_000)
    })

    const shells = name === 'virtual' ? [] : ['/bin/sh', '/bin/bash', '/bin/zsh'].filter((shell) => existsSync(shell))
    it.each(shells)('[PM3] names a refused write in the words of %s', async (shell) => {
      await using site = await createSite({ files })
      const found = await end(site, options, { type: 'command', with: { run: 'echo x > src/a.txt', shell } })
      expect(found).toMatchObject({
        failure: { code: 'ESECURITY', message: expect.stringContaining('src/a.txt') as string },
      })
    })

    it('[PM3] lands no link that leads out, and nothing through a link', async () => {
      await using site = await createSite({ files })
      for (const target of ['/etc/passwd', '../../outside.txt', 'b/../../x', '..']) {
        const found = await run(site, `ln -s '${target}' $OUTPUT/a.txt`)
        expect(found, target).toMatchObject({ failure: { code: 'ESECURITY' } })
      }
      expect(await treeOf(site.output)).toEqual({})
      await symlink(site.directory, join(site.output, 'way'))
      const error = run(site, 'mkdir $OUTPUT/way; echo x > $OUTPUT/way/outside.txt', { outputs: ['way/outside.txt'] })
      await expect(error).rejects.toMatchObject({ code: 'ESECURITY' })
      expect(await site.read('outside.txt')).toBe('O')
    })
  })
})

// two sandboxes
describeWith(component('bubblewrap'), 'a step with exceptions', () => {
  it('[PM5] [UN3] gets its exceptions back where it fails, and nothing beside them', async () => {
    await using site = await createSite({
      files: { ...files, 'workspace/cache/x': 'old', 'workspace/cache/gone': 'old' },
    })
    const owner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
    await using state = await createScratchDirectory({ prefix: 'ws-state-', owner })
    const checkpoints = createCheckpoints({ stateDirectory: `${state.path}/kept` })
    const exceptions = [{ path: 'cache', justification: 'the compiler keeps its cache there' }]
    const spoil = async (context: StepContext): Promise<void> => {
      const workspace = await context.workspace()
      await workspace.exec('echo new > cache/x; rm cache/gone; mkdir cache/made; echo new > cache/made/file')
      await site.write('workspace/src/other.txt', 'of another program')
      if (context.stepId === 'good') return
      throw new Error('spoiled')
    }
    const runner = await site.runner({ ...commands, checkpoints, ...step(spoil) })
    const failed = await runner.run({ version: 1, steps: [{ id: 'bad', type: 'try', exceptions }] })
    expect(failed.steps['bad']).toMatchObject({ state: 'failed', failure: { message: 'spoiled' } })
    expect(await treeOf(site.workspace, ['src', 'out', 'secret.txt'])).toEqual({
      cache: 'directory',
      'cache/x': 'old',
      'cache/gone': 'old',
    })
    expect(await site.read('workspace/src/other.txt')).toBe('of another program')
    const done = await runner.run({ version: 1, steps: [{ id: 'good', type: 'try', exceptions }] })
    expect(done.steps['good']).toMatchObject({ state: 'done' })
    expect(await site.read('workspace/cache/x')).toBe('new\n')
  })
})
