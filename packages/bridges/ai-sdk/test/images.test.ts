import { createAiTools } from '@ws/bridge-ai-sdk'
import { png } from '@ws/test-fixtures/images'
import { openFiles } from '@ws/tests-support/bridges'
import { convertToModelMessages, generateText, isStepCount, type UIMessage } from 'ai'
import { expect, it } from 'vitest'

import { scriptedModel } from './support/script.ts'

const parts = [
  { type: 'text', text: expect.stringMatching(/a\.png: image\/png, 8 × 4 pixels/u) },
  { type: 'file', mediaType: 'image/png', data: { type: 'data', data: png().toString('base64') } },
]

it('[FS2] gives a model the image of a read, by the types of the AI SDK', async () => {
  await using ai = createAiTools(await openFiles({ 'a.png': png() }), { face: 'split' })
  const model = scriptedModel([{ tool: 'read', input: { path: 'a.png' } }, 'A red square.'])
  const { text } = await generateText({ model, tools: ai.tools, prompt: 'What is in it?', stopWhen: isStepCount(3) })
  expect(text).toBe('A red square.')
  expect(model.doGenerateCalls[1]?.prompt.at(-1)).toMatchObject({
    role: 'tool',
    content: [{ type: 'tool-result', output: { type: 'content', value: parts } }],
  })
})

it('[FS2] gives it again from messages that were stored as JSON', async () => {
  await using ai = createAiTools(await openFiles({ 'a.png': png() }), { face: 'split' })
  const input = { path: 'a.png' }
  const output: unknown = await ai.tools['read']?.execute?.(input, { toolCallId: '1', messages: [], context: {} })
  const stored: UIMessage = {
    id: '1',
    role: 'assistant',
    parts: [{ type: 'dynamic-tool', toolName: 'read', toolCallId: '1', state: 'output-available', input, output }],
  }
  const messages = await convertToModelMessages([JSON.parse(JSON.stringify(stored)) as UIMessage], { tools: ai.tools })
  expect(messages.at(-1)).toMatchObject({ content: [{ output: { type: 'content', value: parts } }] })
})
