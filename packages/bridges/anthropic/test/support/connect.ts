import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import type { ClaudeTools } from '@ws/bridge-anthropic/agent-sdk'
import { onTestFinished } from 'vitest'

export async function connect({ options }: ClaudeTools): Promise<Client> {
  const [server] = Object.values(options.mcpServers)
  const [here, there] = InMemoryTransport.createLinkedPair()
  await server?.instance.connect(there)
  const client = new Client({ name: 'test', version: '1.0.0' })
  await client.connect(here)
  onTestFinished(() => client.close())
  return client
}
