import { createBackend } from '@ws/bridge-deepagents'
import { png } from '@ws/test-fixtures/images'
import { openFiles } from '@ws/tests-support/bridges'
import { createDeepAgent } from 'deepagents'
import { expect, it } from 'vitest'

import { ScriptedModel } from './support/script.ts'

const backendWith = async (files: Record<string, string | Uint8Array>) => createBackend(await openFiles(files))

it('[FS2] gives a model the image of `read_file`, as content of LangChain', async () => {
  const model = new ScriptedModel([{ name: 'read_file', args: { file_path: 'a.png' } }, 'A red square.'])
  const agent = createDeepAgent({ model, backend: await backendWith({ 'a.png': png() }) })
  const { messages } = await agent.invoke({ messages: [{ role: 'user', content: 'What is in it?' }] })
  const answer = messages.find(({ type }) => type === 'tool')
  expect(answer?.content).toEqual([{ type: 'image', mimeType: 'image/png', data: png().toString('base64') }])
})

it('[FS2] goes by the content of an image, not by its name', async () => {
  const backend = await backendWith({
    'a.jpg': png(),
    'a.bin': png(),
    'a.png': '<html></html>',
    'b.png': '',
    'c.png': Uint8Array.of(0, 1, 2, 3),
  })
  const image = { content: Uint8Array.from(png()), mimeType: 'image/png' }
  expect(await backend.read('a.jpg')).toEqual(image)
  expect(await backend.read('a.bin')).toEqual(image)
  expect(await backend.read('a.png')).toMatchObject({ content: '<html></html>', mimeType: 'text/plain' })
  expect(await backend.read('b.png')).toMatchObject({ mimeType: 'text/plain' })
  expect(await backend.read('c.png')).toEqual({ error: expect.stringMatching(/binary file/u) })
})

it('[FS2] refuses an image that models refuse, with its sizes', async () => {
  const backend = await backendWith({ 'a.png': png(8, 4, [50_000, 50_000]), 'b.png': png().subarray(0, 20) })
  expect(await backend.read('a.png')).toEqual({ error: expect.stringMatching(/^EFBIG: .*50000 × 50000 pixels/u) })
  expect(await backend.read('b.png')).toEqual({ error: expect.stringMatching(/^EINVAL: .*cut off or broken/u) })
})
