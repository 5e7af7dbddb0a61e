import { glob, readFile } from 'node:fs/promises'

import { createMemoryAdapter } from '@ws/adapter-memory'
import { createPathManager, createWorkspace, rules } from '@ws/core'
import { createTools } from '@ws/tools'
import { expect, it, onTestFinished } from 'vitest'

const root = new URL('../../../', import.meta.url)

it('no page links to a page of a registry that is not ours', async () => {
  const linking: string[] = []
  for await (const path of glob('{README.md,docs/**/*.md,{packages/*,packages/*/*,apps/*}/README.md}', { cwd: root }))
    if (/npmjs\.com\/package\/@ws/u.test(await readFile(new URL(path, root), 'utf8'))) linking.push(path)
  expect(linking).toEqual([])
})

it('the definitions of the faces are as long as the guide says, one beside the other', async () => {
  const workspace = await createWorkspace({ mounts: [{ at: '/', adapter: () => createMemoryAdapter() }] })
  onTestFinished(() => workspace.close())
  const sizeOf = (face: 'file_system' | 'split' | 'claude-code' | 'anthropic' | 'openai'): number => {
    const { tools } = createTools(workspace, { face, downloads: false })
    return JSON.stringify(tools.map(({ name, description, inputSchema }) => [name, description, inputSchema])).length
  }
  const shortest = sizeOf('openai')
  const times = (face: Parameters<typeof sizeOf>[0]): number => Math.round(sizeOf(face) / shortest)
  expect([times('anthropic'), times('claude-code'), times('file_system'), times('split')]).toEqual([2, 2, 3, 4])
})

it('`withinOutput` leaves `/tmp` open, as its examples say', async () => {
  const workspace = await createWorkspace({
    mounts: [{ at: '/', adapter: () => createMemoryAdapter() }],
    rules: [rules.withinOutput('/out')],
  })
  onTestFinished(() => workspace.close())
  await expect(workspace.write('/a.txt', 'x')).rejects.toMatchObject({ code: 'EACCES' })
  await workspace.write('/out/a.txt', 'x')
  await workspace.write('/tmp/a.txt', 'x')
})

it('`isWithin…` answers false for other URLs, where `resolve…` refuses them', () => {
  const manager = createPathManager({ workspace: '/project', output: '/project/out' })
  for (const given of [new URL('https://example.org/project/a'), new URL('file://other/project/a')]) {
    expect([manager.isWithinWorkspace(given), manager.isWithinOutput(given)]).toEqual([false, false])
    expect(() => manager.resolveRead(given)).toThrow(expect.objectContaining({ code: 'EINVAL' }))
    expect(() => manager.resolveWrite(given)).toThrow(expect.objectContaining({ code: 'EINVAL' }))
  }
})

it('`createPathManager` refuses a root of Windows, and takes `\\` for a part of a name', () => {
  for (const workspace of ['C:\\work', 'C:/work', String.raw`\\host\share`])
    expect(() => createPathManager({ workspace, output: '/out' })).toThrow(expect.objectContaining({ code: 'EINVAL' }))
  const manager = createPathManager({ workspace: '/work', output: '/out' })
  expect(manager.resolveRead(String.raw`..\a`)).toBe(String.raw`/work/..\a`)
})
