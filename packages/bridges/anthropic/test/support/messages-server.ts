import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

import { onTestFinished } from 'vitest'

type Block = { type: 'text'; text: string } | { type: 'tool_use'; name: string; input: unknown }
/** One turn of a model: sees the text of the last tool's answer. */
export type Turn = (seen: string) => Block[]

export interface MessagesServer {
  readonly url: string
  /** The last answer that each turn saw, and whether it was an error. */
  readonly seen: { readonly text: string; readonly isError: boolean }[]
  /** Bodies of the requests that the turns answered. */
  readonly requests: Request[]
}

interface Request {
  readonly stream?: boolean
  readonly model: string
  readonly tools?: readonly { readonly name: string; readonly type?: string }[]
  readonly messages: readonly { readonly role: string; readonly content: unknown }[]
}

export const use = (name: string, input: unknown): Block[] => [{ type: 'tool_use', name, input }]
export const say = (words: string): Block[] => [{ type: 'text', text: words }]

/** A server of the Messages API on the loopback that plays these turns. It is closed with the test. */
export async function playMessages(turns: readonly Turn[], isMain: (request: Request) => boolean = () => true) {
  const played: MessagesServer = { url: '', seen: [], requests: [] }
  const server = createServer((request, response) => {
    void answer(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)))
  })
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request)
    if (request.method !== 'POST' || !/^\/v1\/messages(\?|$)/u.test(request.url ?? '')) {
      response.writeHead(request.method === 'HEAD' ? 200 : 404).end('{}')
      return
    }
    const given = JSON.parse(body) as Request
    if (!isMain(given)) {
      send(response, given, say('ok'))
      return
    }
    const last = lastResult(given)
    const turn = turns[played.requests.length]
    played.requests.push(given)
    played.seen.push(last)
    send(response, given, turn === undefined ? say('there are no more turns') : turn(last.text))
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return Object.assign(played, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
}

interface Result {
  readonly type?: string
  readonly content?: unknown
  readonly is_error?: boolean
}

function lastResult({ messages }: Request): MessagesServer['seen'][number] {
  const content = messages.findLast(({ role }) => role === 'user')?.content
  const results = (Array.isArray(content) ? (content as Result[]) : []).filter(({ type }) => type === 'tool_result')
  return {
    text: results.map(({ content: part }) => textOf(part)).join('\n'),
    isError: results.some((one) => one.is_error === true),
  }
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return (content as { text?: string }[]).map(({ text: part = '' }) => part).join('')
}

let messages = 0
function send(response: ServerResponse, { stream = false, model }: Request, blocks: readonly Block[]): void {
  messages += 1
  const content = blocks.map((block, index) =>
    block.type === 'text' ? block : { ...block, id: `toolu_${messages}_${index}` },
  )
  const usage = { input_tokens: 1, output_tokens: 1, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 }
  const reason = blocks.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn'
  const message = {
    id: `msg_${messages}`,
    type: 'message',
    role: 'assistant',
    model,
    content,
    stop_reason: reason,
    stop_sequence: null,
    usage,
  }
  if (!stream) {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(message))
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const event = (type: string, data: object): void => {
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`)
  }
  event('message_start', { message: { ...message, content: [], stop_reason: null } })
  for (const [index, block] of content.entries()) {
    const empty = block.type === 'text' ? { type: 'text', text: '' } : { ...block, input: {} }
    event('content_block_start', { index, content_block: empty })
    const delta =
      block.type === 'text'
        ? { type: 'text_delta', text: block.text }
        : { type: 'input_json_delta', partial_json: JSON.stringify(block.input) }
    event('content_block_delta', { index, delta })
    event('content_block_stop', { index })
  }
  event('message_delta', { delta: { stop_reason: reason, stop_sequence: null }, usage })
  event('message_stop', {})
  response.end()
}
