import { mkdir, open, readFile, realpath, stat, symlink, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { defineStepType, type RunnerOptions } from '@ws/runner'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'

import { createSite, testTypes, treeOf, type Site } from '../support.ts'

const plan = { version: 1, steps: [{ id: 'one', type: 'put', with: { a: 'new' }, outputs: ['a'] }] }
const journalOf = (site: Site): string => join(site.state, 'journal.sqlite')

/** A site whose plan has run, and whose runner is closed: everything is in one file. */
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
    ['has lost its first page', (file) => overwrite(file, 0, Buffer.alloc(4096, 0x2a))],
    ['has a page of other bytes', (file) => overwrite(file, 4096, Buffer.alloc(4096, 0xff))],
    ['is a text', (file) => overwrite(file, 0, Buffer.from("not a database, but somebody's notes\n"))],
  ]

  it.each(tears)('is EIO before anything runs, and nothing is overwritten, where it %s', async (_how, tear) => {
    await using site = await finishedSite()
    await tear(journalOf(site))
    const before = [await readFile(journalOf(site), 'latin1'), await treeOf(site.output)]
    await expect(site.runner({ types: testTypes })).rejects.toMatchObject({
      code: 'EIO',
      message: expect.stringContaining('the journal is damaged') as string,
    })
    expect([await readFile(journalOf(site), 'latin1'), await treeOf(site.output)]).toEqual(before)
  })

  it('is EIO where a record is not what this program writes', async () => {
    await using site = await finishedSite()
    const database = new DatabaseSync(journalOf(site))
    database.exec('UPDATE landed SET record = \'{"stepId": 7\'')
    database.close()
    await expect(site.runner({ types: testTypes })).rejects.toMatchObject({ code: 'EIO' })
    expect(await site.read('workspace/out/a')).toBe('new')
  })

  it('is EINVAL where another version wrote it, and stays byte for byte', async () => {
    await using site = await finishedSite()
    const database = new DatabaseSync(journalOf(site))
    database.exec('PRAGMA user_version = 99')
    database.close()
    const before = await readFile(journalOf(site), 'latin1')
    await expect(site.runner({ types: testTypes })).rejects.toMatchObject({
      code: 'EINVAL',
      message: expect.stringContaining('version 99, and this program knows version 1') as string,
    })
    expect(await readFile(journalOf(site), 'latin1')).toBe(before)
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
    const journal = await realpath(join(site.directory, 'link/journal.sqlite'))
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

async function overwrite(file: string, position: number, bytes: Buffer): Promise<void> {
  const handle = await open(file, 'r+')
  await handle.write(bytes, 0, bytes.length, position)
  await handle.close()
}
