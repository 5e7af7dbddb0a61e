import { once } from 'node:events'
import { connect } from 'node:net'

import { expect } from 'vitest'

import { drained } from '../../src/messages/drained.ts'
import { callOf } from './victims.ts'

const mebibyte = 1024 * 1024

const listen = (uris: readonly string[]): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: 'stream',
    method: 'subscriptions/listen',
    params: {
      notifications: { resourceSubscriptions: uris },
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'attack', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    },
  })

const unknownArguments = (count: number): Record<string, number> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`a${index}`, index]))

/** Messages that take much more of a server than of their client. */
export const hostileMessages: readonly { readonly name: string; readonly body: string }[] = [
  { name: 'a million arguments', body: callOf('h', 'read', unknownArguments(250_000)) },
  { name: '19,000 unknown arguments', body: callOf('h', 'read', unknownArguments(19_000)) },
  { name: '900 unknown arguments', body: callOf('h', 'read', unknownArguments(900)) },
  { name: 'arguments as a text', body: callOf('h', 'read', JSON.stringify(unknownArguments(150_000))) },
  {
    name: 'empty arrays',
    body: `{"jsonrpc":"2.0","id":"h","method":"ping","params":{"a":[${'[],'.repeat(1_000_000)}[]]}}`,
  },
  {
    name: 'long URIs',
    body: listen(Array.from({ length: 1_000 }, (_, index) => `workspace:///${index}${'x'.repeat(4_000)}`)),
  },
  { name: 'many URIs', body: listen(Array.from({ length: 15_000 }, (_, index) => `workspace:///${index}`)) },
  { name: 'a long name', body: callOf('h', 'x'.repeat(3 * mebibyte), {}) },
  { name: 'a text of escapes', body: callOf('h', 'read', { path: '\n'.repeat(1.5 * mebibyte) }) },
  { name: 'more than the longest message', body: callOf('h', 'read', { path: 'x'.repeat(5 * mebibyte) }) },
]

/** A connection that sends bytes as they are, and reads nothing until it is asked to. */
async function dial(url: URL) {
  const socket = connect(Number(url.port), url.hostname)
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  socket.pause()
  const write = async (bytes: string | Buffer): Promise<void> => {
    if (!socket.destroyed && !socket.write(bytes)) await drained(socket)
  }
  const read = async (): Promise<string> => {
    const chunks: Buffer[] = []
    socket.on('data', (chunk: Buffer) => chunks.push(chunk)).resume()
    if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve))
    return Buffer.concat(chunks).toString('latin1')
  }
  return { socket, write, read }
}

const headOf = (target: string, host: string, more: string): string =>
  `POST ${target} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\nconnection: close\r\n${more}\r\n\r\n`

/** Sends a body of so many bytes, each of them a chunk of its own, and gives the answer. */
export async function sendByteByByte(url: URL, bytes: number): Promise<string> {
  const { write, read } = await dial(url)
  const answer = read()
  await write(headOf(url.pathname, url.host, 'transfer-encoding: chunked'))
  const block = '1\r\nx\r\n'.repeat(10_000)
  await write('1\r\n"\r\n')
  for (let sent = 0; sent < bytes; sent += 10_000) await write(block)
  await write('1\r\n"\r\n0\r\n\r\n')
  return answer
}

/** Sends so many requests at once, and waits for the answer to the last one. */
export async function pipeline(url: URL, count: number): Promise<void> {
  const { write, read } = await dial(url)
  const answers = read()
  await write(`GET ${url.pathname} HTTP/1.1\r\nhost: ${url.host}\r\n\r\n`.repeat(count - 1))
  await write(`GET ${url.pathname} HTTP/1.1\r\nhost: ${url.host}\r\nconnection: close\r\n\r\n`)
  expect((await answers).split('HTTP/1.1 405 ')).toHaveLength(count + 1)
}

/** Sends requests in absolute form, and others whose address looks like it. */
export async function sendAddresses(url: URL): Promise<void> {
  for (const target of [url.href, `http://evil.example.com${url.pathname}`, 'ftp://x/mcp', '//x/mcp']) {
    const { write, read } = await dial(url)
    const body = callOf('a', 'list', { path: '/workspace' })
    await write(`${headOf(target, url.host, `content-length: ${body.length}`)}${body}`)
    const status = { [url.href]: 200, 'ftp://x/mcp': 400, '//x/mcp': 404 }[target] ?? 403
    expect((await read()).split(' ')[1], target).toBe(String(status))
  }
}

/** Asks for answers of 1 MiB and takes none of them; ends when the server has nothing left to say, or by `signal`. */
export async function leaveUnread(url: URL, count: number): Promise<() => void> {
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'resources/read',
    params: { uri: 'workspace:///workspace/large.txt' },
  })
  const sockets = await Promise.all(
    Array.from({ length: count }, async () => {
      const { socket, write } = await dial(url)
      await write(`${headOf(url.pathname, url.host, `content-length: ${body.length}`)}${body}`)
      return socket
    }),
  )
  return () => {
    for (const socket of sockets) socket.destroy()
  }
}
