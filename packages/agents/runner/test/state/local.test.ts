import { mkdir, readdir, realpath, stat, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { defineStepType, type RunnerOptions } from '@ws/runner'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'

import { createSite, testTypes, treeOf, type Site } from '../support.ts'

const plan = { version: 1, steps: [{ id: 'one', type: 'put', with: { a: 'new' }, outputs: ['a'] }] }
const journalOf = (site: Site): string => join(site.state, 'journal')

/** The path of the first object of the journal whose path begins like this. */
async function objectOf(site: Site, start: string): Promise<string> {
  const paths = await readdir(journalOf(site), { recursive: true })
  return join(journalOf(site), paths.find((path) => path.startsWith(start)) ?? 'missing')
}

/** A site whose plan has run, and whose runner is closed. */
async function finishedSite(): Promise<Site> {
  const site = await createSite()
  const runner = await site.runner({ types: testTypes })
  await runner.run(plan)
  await runner.close()
  return site
}

describe('a journal that cannot be trusted', () => {
  const tears: readonly (readonly [how: string, tear: (file: string) => Promise<void>])[] = [
    ['is cut in its middle', async (file) => truncate(file, Math.floor((await stat(file)).size / 2))],
    ['is empty', (file) => truncate(file)],
    ['is zeros', async (file) => writeFile(file, Buffer.alloc((await stat(file)).size))],
    ['is a text', (file) => writeFile(file, "not a record, but somebody's notes\n")],
    ['is another record', (file) => writeFile(file, '{"nonce":"1","stepId":7}')],
  ]
  const objects = ['version.json', 'runs/', 'steps/one/landed~'] as const

  it.each(objects.flatMap((start) => tears.map(([how, tear]) => [start, how, tear] as const)))(
    'is EIO before anything runs, and nothing is overwritten, where %s… %s',
    async (start, _how, tear) => {
      await using site = await finishedSite()
      await tear(await objectOf(site, start))
      const before = [await treeOf(journalOf(site)), await treeOf(site.output)]
      const running = site.runner({ types: testTypes }).then((runner) => runner.run(plan, { force: true }))
      await expect(running).rejects.toMatchObject({
        code: 'EIO',
        message: expect.stringContaining('the journal is damaged') as string,
      })
      expect([await treeOf(journalOf(site)), await treeOf(site.output)]).toEqual(before)
    },
  )

  it('is EINVAL where another version wrote it, and stays byte for byte', async () => {
    await using site = await finishedSite()
    await writeFile(await objectOf(site, 'version.json'), '{"version":99,"more":[]}')
    const before = await treeOf(site.state)
    await expect(site.runner({ types: testTypes })).rejects.toMatchObject({
      code: 'EINVAL',
      message: expect.stringContaining('version 99, and this program knows version 2') as string,
    })
    expect(await treeOf(site.state)).toEqual(before)
  })

  it('is EINVAL where it is the one file of version 1, and stays byte for byte', async () => {
    await using site = await createSite()
    await mkdir(site.state)
    await writeFile(join(site.state, 'journal.sqlite'), 'records of version 1')
    await expect(site.runner({ types: testTypes })).rejects.toMatchObject({
      code: 'EINVAL',
      message: expect.stringContaining('version 1, and this program knows version 2') as string,
    })
    expect(await treeOf(site.state)).toEqual({ 'journal.sqlite': 'records of version 1' })
  })

  it('is closed to other users', async () => {
    await using site = await finishedSite()
    expect((await stat(journalOf(site))).mode & 0o777).toBe(0o700)
  })
})

describe('[PM3] a state directory that a step would see', () => {
  const places: readonly (readonly [title: string, place: (site: Site) => Promise<Partial<RunnerOptions>>])[] = [
    ['is the workspace', async ({ workspace }) => ({ state: workspace })],
    ['is the output', async ({ output }) => ({ state: output })],
    ['lies in the workspace', async ({ workspace }) => ({ state: join(workspace, 'deep/state') })],
    ['lies in the output', async ({ output }) => ({ state: join(output, 'state') })],
    ['lies around both', async ({ directory }) => ({ state: directory })],
    ['leads by `..` into the workspace', async ({ workspace }) => ({ state: `${workspace}/../workspace/state` })],
    [
      'is a link into the workspace',
      async ({ directory, workspace }) => {
        await mkdir(join(workspace, 'hidden'))
        await symlink(join(workspace, 'hidden'), join(directory, 'link'))
        return { state: join(directory, 'link') }
      },
    ],
    [
      'lies below a link into the output',
      async ({ directory, output }) => {
        await symlink(output, join(directory, 'link'))
        return { state: join(directory, 'link/state') }
      },
    ],
  ]

  it.each(places)('is EINVAL where it %s, and leaves nothing there', async (_title, place) => {
    await using site = await createSite({ output: 'elsewhere', files: { 'workspace/a.txt': 'A' } })
    const options = await place(site)
    const before = await treeOf(site.directory)
    await expect(site.runner({ types: testTypes, ...options })).rejects.toMatchObject({
      code: 'EINVAL',
      message: expect.stringContaining('lies in the workspace or the output, or around one') as string,
    })
    expect(await treeOf(site.directory)).toEqual(before)
  })

  it('may be a link to a place that no step can reach', async () => {
    await using site = await createSite()
    await mkdir(join(site.directory, 'elsewhere'))
    await symlink(join(site.directory, 'elsewhere'), join(site.directory, 'link'))
    const runner = await site.runner({ types: testTypes, state: join(site.directory, 'link') })
    expect(await runner.run(plan)).toMatchObject({ state: 'done' })
    const journal = await realpath(join(site.directory, 'link/journal/version.json'))
    expect(journal).toContain('/elsewhere/')
  })
})

describe('content of the output that no run wrote', () => {
  it('refuses the plan by the name of its step, and stays', async () => {
    await using site = await createSite({ files: { 'workspace/out/a': 'by hand' } })
    const runner = await site.runner({ types: testTypes })
    const steps = [{ id: 'first', type: 'put', with: { b: 'x' }, outputs: ['b'] }, ...plan.steps]
    for (const force of [false, true]) {
      await expect(runner.run({ version: 1, steps }, { force })).rejects.toMatchObject({
        code: 'EEXIST',
        message: expect.stringMatching(/one.*`\/output\/a` exists, with content that no run/su) as string,
      })
    }
    expect(await treeOf(site.output)).toEqual({ a: 'by hand' })
  })

  it('is kept where somebody changes what a step wrote', async () => {
    await using site = await finishedSite()
    await site.write('workspace/out/a', 'changed by hand')
    const runner = await site.runner({ types: testTypes })
    await expect(runner.run(plan, { force: true })).rejects.toThrow(/step `one`/u)
    expect(await site.read('workspace/out/a')).toBe('changed by hand')
  })

  it('fails the step where it appears while the step runs, and nothing of the step lands', async () => {
    await using site = await createSite()
    const late = defineStepType({
      settings: z.strictObject({}),
      async run(_, context) {
        await context.write('a', 'by the step')
        await context.write('b', 'by the step')
        await site.write('workspace/out/b', 'by hand')
        return undefined
      },
    })
    const runner = await site.runner({ types: { late } })
    const result = await runner.run({ version: 1, steps: [{ id: 'one', type: 'late', outputs: ['a', 'b'] }] })
    expect(result.steps['one']).toMatchObject({ state: 'failed', failure: { code: 'EEXIST', path: '/output/b' } })
    expect(await treeOf(site.output)).toEqual({ b: 'by hand' })
  })
})
