import Anthropic from '@anthropic-ai/sdk'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { createRunnableTools } from '@ws/bridge-anthropic'
import { createClaudeTools } from '@ws/bridge-anthropic/agent-sdk'
import { png } from '@ws/test-fixtures/images'
import { openFiles } from '@ws/tests-support/bridges'
import { expect, it, onTestFinished } from 'vitest'

import { playMessages, say, use } from './support/messages-server.ts'

const text = { type: 'text', text: expect.stringMatching(/a\.png: image\/png, 8 × 4 pixels/u) }

it.each([
  ['read', { file_path: 'a.png' }],
  ['str_replace_based_edit_tool', { command: 'view', path: 'a.png' }],
])('[FS2] gives a model the image of `%s`, as a block of the Messages API', async (tool, input) => {
  await using runnable = createRunnableTools(await openFiles({ 'a.png': png() }))
  const server = await playMessages([() => use(tool, input), () => say('A red square.')])
  const client = new Anthropic({ apiKey: 'none', baseURL: server.url, maxRetries: 0 })
  await client.beta.messages
    .toolRunner({
      model: 'claude-test',
      max_tokens: 1_000,
      messages: [{ role: 'user', content: 'What is in it?' }],
      tools: runnable.tools,
    })
    .runUntilDone()
  const source = { type: 'base64', media_type: 'image/png', data: png().toString('base64') }
  expect(server.requests[1]?.messages.at(-1)?.content).toMatchObject([
    { type: 'tool_result', content: [text, { type: 'image', source }] },
  ])
})

it('[FS2] gives Claude Code the image of `Read`, as content of MCP', async () => {
  await using tools = createClaudeTools(await openFiles({ 'a.png': png() }))
  const [server] = Object.values(tools.options.mcpServers)
  const [here, there] = InMemoryTransport.createLinkedPair()
  await server?.instance.connect(there)
  const client = new Client({ name: 'test', version: '1.0.0' })
  await client.connect(here)
  onTestFinished(() => client.close())
  const { content } = await client.callTool({ name: 'Read', arguments: { file_path: 'a.png' } })
  expect(content).toEqual([text, { type: 'image', data: png().toString('base64'), mimeType: 'image/png' }])
})
