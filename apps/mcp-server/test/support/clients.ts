import {
  Client,
  StreamableHTTPClientTransport,
  type JSONRPCMessage,
  type Transport,
} from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as EarlierStdioTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as EarlierHttpTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import { fileURLToPath } from 'node:url'

import { serveOnPipe } from './serve.ts'
import type { Workspace } from '@ws/core'
import type { StdioOptions } from '@ws/mcp-server'

const info = { name: 'test', version: '1.0.0' }
const program = fileURLToPath(new URL('stdio-server.ts', import.meta.url))

/** How the fixture server is started. */
export function startOf(...args: readonly string[]) {
  const { NODE_COMPILE_CACHE = '' } = process.env // of the other variables, clients pass on the usual ones alone
  return { command: process.execPath, args: ['--conditions=@ws/source', program, ...args], env: { NODE_COMPILE_CACHE } }
}

/** A client of the newer protocol, over standard input and output. */
export async function openStdio(...args: readonly string[]): Promise<Client> {
  const client = new Client(info, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
  await client.connect(new StdioClientTransport({ ...startOf(...args), stderr: 'inherit' }))
  return client
}

/** A client of the earlier protocol, by the earlier SDK. */
export async function openEarlierStdio(...args: readonly string[]): Promise<EarlierClient> {
  const client = new EarlierClient(info)
  await client.connect(new EarlierStdioTransport({ ...startOf(...args), stderr: 'inherit' }))
  return client
}

const requestInit = (token: string | undefined) =>
  token === undefined ? {} : { requestInit: { headers: { authorization: `Bearer ${token}` } } }

/** The ends of two pipes to a server in this process. */
export class PipeTransport implements Transport {
  onmessage?: NonNullable<Transport['onmessage']>
  onclose?: () => void
  readonly #input = new PassThrough()
  readonly #output = new PassThrough()
  readonly #workspace: Workspace
  readonly #options: StdioOptions

  constructor(workspace: Workspace, options: StdioOptions = {}) {
    this.#workspace = workspace
    this.#options = options
  }

  async start(): Promise<void> {
    const lines = createInterface(this.#output)
    lines.on('line', (line) => this.onmessage?.(JSON.parse(line) as JSONRPCMessage))
    await serveOnPipe(this.#workspace, { ...this.#options, input: this.#input, output: this.#output })
  }

  async send(message: object): Promise<void> {
    this.#input.write(`${JSON.stringify(message)}\n`)
  }

  async close(): Promise<void> {
    this.#input.end()
    this.onclose?.()
  }
}

/** A client of the newer protocol, over two pipes. */
export async function openPipe(workspace: Workspace): Promise<Client> {
  const client = new Client(info, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
  await client.connect(new PipeTransport(workspace))
  return client
}

/** A client of the earlier protocol, over two pipes. */
export async function openEarlierPipe(workspace: Workspace): Promise<EarlierClient> {
  const client = new EarlierClient(info)
  // the SDK's own types do not agree where optional fields are exact
  await client.connect(new PipeTransport(workspace) as unknown as Parameters<EarlierClient['connect']>[0])
  return client
}

/** A client of the newer protocol, over HTTP. */
export async function openHttp(url: URL, token?: string): Promise<Client> {
  const client = new Client(info, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
  await client.connect(new StreamableHTTPClientTransport(url, requestInit(token)))
  return client
}

/** A client of the earlier protocol, over HTTP. */
export async function openEarlierHttp(url: URL, token?: string): Promise<EarlierClient> {
  const client = new EarlierClient(info)
  // the SDK's own types do not agree where optional fields are exact
  const transport = new EarlierHttpTransport(url, requestInit(token)) as unknown as Parameters<
    EarlierClient['connect']
  >[0]
  await client.connect(transport)
  return client
}
