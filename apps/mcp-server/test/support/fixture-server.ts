import {
  CLIENT_CAPABILITIES_META_KEY,
  createRequestStateCodec,
  McpServer,
  ResourceTemplate,
} from '@modelcontextprotocol/server'
import type {
  ClientCapabilities,
  InputRequests,
  InputRequiredResult,
  ServerContext,
} from '@modelcontextprotocol/server'
import { randomBytes } from 'node:crypto'
import { z } from 'zod'

import { addResources } from '../../src/server/resources.ts'
import { addTools } from '../../src/server/tools.ts'
import type { MakeServer } from '../../src/http/subjects.ts'

// what the conformance suite demands of a server, beside what ours serves

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='
const wav = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA='
const codec = createRequestStateCodec<string>({ key: randomBytes(32) })

const text = (shown: string) => ({ type: 'text' as const, text: shown })
const image = { type: 'image' as const, data: png, mimeType: 'image/png' }
const resource = (uri: string, mimeType: string, content: string) => ({
  type: 'resource' as const,
  resource: { uri, mimeType, text: content },
})

/** Our server with the fixtures of the suite. */
export const makeFixtureServer: MakeServer = (source) => {
  const server = new McpServer(
    { name: 'fixtures', version: '1.0.0' },
    {
      capabilities: { tools: {}, resources: { subscribe: true }, completions: {}, logging: {} },
      requestState: { verify: (state, context) => codec.verify(state, context) },
    },
  )
  addTools(server, source)
  addResources(server, source)
  addContents(server)
  addPrompts(server)
  addInputs(server)
  return server
}

function addContents(server: McpServer): void {
  const tool = (name: string, content: readonly object[]): void => {
    server.registerTool(name, { description: name }, () => ({ content: content as (typeof image)[] }))
  }
  tool('test_simple_text', [text('This is a simple text response for testing.')])
  tool('test_image_content', [image])
  tool('test_audio_content', [{ type: 'audio', data: wav, mimeType: 'audio/wav' }])
  tool('test_embedded_resource', [
    resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.'),
  ])
  tool('test_multiple_content_types', [
    text('Multiple content types test:'),
    image,
    resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
  ])
  tool('test_logging_tool', [text('logged')])
  server.registerTool('test_error_handling', { description: 'Fails' }, () => {
    throw new Error('This tool intentionally returns an error for testing')
  })
  server.registerTool('test_tool_with_progress', { description: 'Reports progress' }, async ({ mcpReq }) => {
    await reportProgress(mcpReq)
    return { content: [text('done')] }
  })
  server.registerResource('static-text', 'test://static-text', {}, ({ href }) => ({
    contents: [{ uri: href, mimeType: 'text/plain', text: 'This is the content of the static text resource.' }],
  }))
  server.registerResource('static-binary', 'test://static-binary', {}, ({ href }) => ({
    contents: [{ uri: href, mimeType: 'image/png', blob: png }],
  }))
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined })
  server.registerResource('template', template, {}, ({ href }, { id }) => ({
    contents: [
      {
        uri: href,
        mimeType: 'application/json',
        text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` }),
      },
    ],
  }))
}

async function reportProgress({ _meta, notify }: ServerContext['mcpReq']): Promise<void> {
  const progressToken = _meta?.progressToken
  if (progressToken === undefined) return
  for (const progress of [0, 50, 100]) {
    await notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } })
  }
}

function addPrompts(server: McpServer): void {
  const user = <Content>(content: Content) => ({ role: 'user' as const, content })
  server.registerPrompt('test_simple_prompt', { description: 'A prompt' }, () => ({
    messages: [user(text('This is a simple prompt for testing.'))],
  }))
  const two = z.object({ arg1: z.string(), arg2: z.string() })
  server.registerPrompt(
    'test_prompt_with_arguments',
    { description: 'With arguments', argsSchema: two },
    ({ arg1, arg2 }) => ({ messages: [user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))] }),
  )
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'With a resource', argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri }) => ({
      messages: [
        user(resource(resourceUri, 'text/plain', 'Embedded resource content for testing.')),
        user(text('Please process the embedded resource above.')),
      ],
    }),
  )
  server.registerPrompt('test_prompt_with_image', { description: 'With an image' }, () => ({
    messages: [user(image), user(text('Please analyze the image above.'))],
  }))
  server.registerPrompt('test_input_required_result_prompt', { description: 'Asks first' }, ({ mcpReq }) =>
    mcpReq.inputResponses?.['user_context'] === undefined
      ? ask({ user_context: question('What context should the prompt use?', 'context') })
      : { messages: [user(text(JSON.stringify(mcpReq.inputResponses['user_context'])))] },
  )
}

const question = (message: string, name: string, type: 'string' | 'boolean' = 'string') => ({
  method: 'elicitation/create' as const,
  params: { message, requestedSchema: { type: 'object' as const, properties: { [name]: { type } }, required: [name] } },
})
const sampling = (shown: string, maxTokens: number) => ({
  method: 'sampling/createMessage' as const,
  params: { messages: [{ role: 'user' as const, content: text(shown) }], maxTokens },
})
const roots = { method: 'roots/list' as const, params: {} }

function ask(inputRequests: object, requestState?: string): InputRequiredResult {
  return {
    resultType: 'input_required',
    inputRequests: inputRequests as InputRequests,
    ...(requestState !== undefined && { requestState }),
  }
}

function addInputs(server: McpServer): void {
  /** Asks until all answers are there, then shows them. */
  const asking = (name: string, requests: Readonly<Record<string, object>>, withState = false): void => {
    server.registerTool(name, { description: name }, async (context) => {
      const { inputResponses = {}, requestState } = context.mcpReq
      const isAnswered = Object.keys(requests).every((key) => isAnswer(inputResponses[key]))
      if (isAnswered && (!withState || requestState() === 'asked')) {
        return { content: [text(`state-ok ${JSON.stringify(inputResponses)}`)] }
      }
      return ask(requests, withState ? await codec.mint('asked', context) : undefined)
    })
  }
  const name = question('What is your name?', 'name')
  const confirm = { confirm: question('Please confirm', 'ok', 'boolean') }
  asking('test_input_required_result_elicitation', { user_name: name })
  asking('test_input_required_result_sampling', { capital_question: sampling('What is the capital of France?', 100) })
  asking('test_input_required_result_list_roots', { client_roots: roots })
  asking('test_input_required_result_request_state', confirm, true)
  asking('test_input_required_result_tampered_state', confirm, true)
  const three = { user_name: name, greeting: sampling('Generate a greeting', 50), client_roots: roots }
  asking('test_input_required_result_multiple_inputs', three, true)
  asking('test_missing_capability', { greeting: sampling('Hello?', 50) })
  server.registerTool('test_streaming_elicitation', { description: 'Reports, then asks' }, async ({ mcpReq }) => {
    await reportProgress(mcpReq)
    return ask({ user_name: name })
  })
  server.registerTool('test_input_required_result_capabilities', { description: 'Asks what it may' }, ({ mcpReq }) => {
    const envelope: Readonly<Record<string, unknown>> = { ...mcpReq.envelope }
    const capabilities = envelope[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined
    return ask({
      ...(capabilities?.elicitation && { user_name: name }),
      ...(capabilities?.sampling && { greeting: sampling('Hello?', 50) }),
    })
  })
  server.registerTool('test_input_required_result_multi_round', { description: 'Asks twice' }, async (context) => {
    const { inputResponses = {}, requestState } = context.mcpReq
    const state = requestState<string>()
    if (state === 'step2' && isAnswer(inputResponses['step2'])) return { content: [text('done')] }
    if (state === 'step1' && isAnswer(inputResponses['step1'])) {
      const step2 = question('Step 2: What is your favorite color?', 'color')
      return ask({ step2 }, await codec.mint('step2', context))
    }
    return ask({ step1: question('Step 1: What is your name?', 'name') }, await codec.mint('step1', context))
  })
}

function isAnswer(response: unknown): boolean {
  return typeof response === 'object' && response !== null
}
