import { Agent } from '@mastra/core/agent'
import { Workspace as MastraWorkspace } from '@mastra/core/workspace'
import { createMastraFilesystem } from '@ws/bridge-mastra'
import { rules } from '@ws/core'
import { png } from '@ws/test-fixtures/images'
import { openSite, sites } from '@ws/tests-support/bridges'
import { expect, it } from 'vitest'

import { scriptedModel } from './support/script.ts'

const files = {
  'a.png': png(),
  'png.jpg': png(),
  'text.png': 'text\n',
  'large.png': png(8, 4, [50_000, 50_000]),
  'secret.png': png(),
}

async function filesystemWith() {
  const [site] = sites
  if (site === undefined) throw new Error('there is no site')
  return createMastraFilesystem(await openSite(site, files, { rules: [rules.deny('secret.png')] }))
}

it('[FS2] gives a model the image of `read_file`, as media of Mastra', async () => {
  const mastra = new MastraWorkspace({ filesystem: await filesystemWith() })
  await mastra.init()
  const seen: string[] = []
  const read = (path: string) => ({ tool: 'mastra_workspace_read_file', input: { path } })
  const model = scriptedModel([
    read('a.png'),
    (last) => (seen.push(last), read('png.jpg')),
    (last) => (seen.push(last), read('large.png')),
    (last) => (seen.push(last), read('text.png')),
    (last) => (seen.push(last), 'A red square.'),
  ])
  const agent = new Agent({ id: 'a', name: 'a', instructions: 'Look.', model, workspace: mastra })
  expect(await (await agent.stream('What is in it?', { maxSteps: 9 })).text).toBe('A red square.')
  const media = { type: 'media', data: png().toString('base64'), mediaType: 'image/png' }
  expect(JSON.parse(seen[0] ?? '')).toEqual([{ type: 'text', text: expect.stringContaining('a.png') }, media])
  expect(JSON.parse(seen[1] ?? '')).toEqual([{ type: 'text', text: expect.stringContaining('png.jpg') }, media])
  expect(seen[2]).toMatch(/is image\/png, 50000 × 50000 pixels, \d+ bytes; models take at most 2000 pixels/u)
  expect(seen[3]).toContain('text')
  await mastra.destroy()
})

it('[FS2] names the type of an image in its status, and of no file that may not be read', async () => {
  const filesystem = await filesystemWith()
  expect(await filesystem.stat('png.jpg')).toMatchObject({ mimeType: 'image/png' })
  for (const name of ['text.png', 'large.png']) expect(await filesystem.stat(name)).not.toHaveProperty('mimeType')
  await expect(filesystem.stat('secret.png')).rejects.toThrow()
})
