/** @module-tag all */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { createLocalAdapter } from '@ws/adapter-local'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { fixedTokens, openThreads, serveHttp } from '@ws/mcp-server'
import { component, createScratchDirectory, describeWith } from '@ws/test-fixtures'
import { createThreads } from '@ws/threads'
import { expect, it, onTestFinished } from 'vitest'

import { openHttp } from './support/clients.ts'

// Three sandboxes and two servers.
describeWith(
  [component('bubblewrap'), component('perl')],
  'a server of threads whose commands have a list of hosts',
  () => {
    it('[NW1, NW6] lets each client reach them, and tells each which host was refused, with the remedy', async () => {
      const origin = createServer((_, response) => response.end('from the host\n'))
      await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve))
      onTestFinished(() => void origin.close())
      const { port } = origin.address() as AddressInfo
      const scratch = await createScratchDirectory({ prefix: 'ws-mcp-' })
      const root = await scratch.createDirectory('store')
      const network = {
        allow: ['api.test'],
        addresses: ['127.0.0.1'],
        resolve: async () => [{ address: '127.0.0.1', port }],
      }
      const threads = await createThreads({
        store: await createLocalAdapter({ root }),
        provision: false,
        executors: [createBubblewrapExecutor({ network })],
      })
      const server = await serveHttp({
        tools: { face: 'split' },
        commands: { network: 'names', fileContent: 'kernel' },
        open: openThreads(threads),
        auth: { verify: fixedTokens({ 'token-a': 'a', 'token-b': 'b' }) },
      })
      onTestFinished(async () => {
        await server.close()
        await threads.close()
        await scratch.remove()
      })
      const clients = await Promise.all(['token-a', 'token-b'].map((token) => openHttp(server.url, token)))
      const answers = await Promise.all(
        clients.map((client) =>
          client.callTool({
            name: 'execute',
            arguments: { command: 'curl -s http://api.test/; curl -s http://evil.test/ || echo refused $?' },
          }),
        ),
      )
      for (const answer of answers) {
        const text = JSON.stringify(answer.content)
        expect(text).toContain('from the host')
        expect(text).toContain('refused 6')
        expect(text).toContain('evil.test is not in the list of hosts')
        expect(text).toContain('network.allow')
      }
    })
  },
)
