/** @module-tag all */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

import { component, createScratchDirectory, itWith } from '@ws/test-fixtures'
import { expect } from 'vitest'

const main = fileURLToPath(new URL('../../src/agent-service/main.ts', import.meta.url))

itWith(component('bubblewrap'), 'is a whole program: it starts, refuses strangers, and ends at SIGTERM', async () => {
  await using scratch = await createScratchDirectory({ prefix: 'ws-service-' })
  const service = spawn(process.execPath, ['--conditions=@ws/source', main, scratch.path], {
    env: { ...process.env, TOKENS: '{"secret":"u1"}', PORT: '0' },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const exited = once(service, 'exit')
  try {
    const [address] = (await once(createInterface(service.stderr), 'line')) as [string]
    const { port } = JSON.parse(address) as { readonly port: number }
    const refused = await fetch(`http://127.0.0.1:${port}/threads/t1/files/a.txt`)
    expect([refused.status, await refused.json()]).toMatchObject([401, { error: { code: 'ENOTOKEN' } }])
    service.kill('SIGTERM')
    expect(await exited).toEqual([0, null])
  } finally {
    service.kill('SIGKILL')
    await exited
  }
})
