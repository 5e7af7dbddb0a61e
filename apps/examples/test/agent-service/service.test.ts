/** @module-tag all */
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

import { createLocalAdapter } from '@ws/adapter-local'
import { createMemoryAdapter } from '@ws/adapter-memory'
import type { AccessEvent } from '@ws/core'
import type { Executor } from '@ws/core/executor'
import type { StorageAdapter } from '@ws/core/adapter'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { component, createScratchDirectory, createMarker, itWith, until } from '@ws/test-fixtures'
import { createProcessLeases, createThreads } from '@ws/threads'
import { expect, it } from 'vitest'

import { bearerTokens, createService } from '../../src/agent-service/service.ts'

const tokens = { one: 'u1', two: 'u2' }

async function serve(store: StorageAdapter, executors: readonly Executor[]) {
  const events: AccessEvent[] = []
  const threads = await createThreads({
    store,
    executors,
    provision: false,
    leases: createProcessLeases(),
    idleTimeout: 0,
  })
  const service = createService({
    threads,
    store,
    authenticate: bearerTokens(tokens),
    audit: (event) => events.push(event),
  })
  service.server.listen(0, '127.0.0.1')
  await once(service.server, 'listening')
  const { port } = service.server.address() as AddressInfo
  const call = (path: string, init: RequestInit = {}) =>
    fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: 'Bearer one' }, ...init })
  return { service, events, call, [Symbol.asyncDispose]: () => service.close() }
}

const exec = (command: string): RequestInit => ({ method: 'POST', body: JSON.stringify({ command }) })

it('serves a thread for each conversation, at both doors, and audits with labels', async () => {
  const store = createMemoryAdapter({
    files: { '/skills/system/plan/SKILL.md': '---\nname: plan\ndescription: Plans.\n---\n' },
  })
  await using site = await serve(store, [createVirtualExecutor()])
  expect((await site.call('/threads/t1/files/a.txt', { method: 'PUT', body: 'hello\n' })).status).toBe(200)
  expect(await (await site.call('/threads/t1/exec', exec('cat a.txt; exit 3'))).text()).toBe(
    'hello\n\n{"exitCode":3,"timedOut":false}\n',
  )
  expect(await (await site.call('/threads/t1/files/a.txt')).text()).toBe('hello\n')
  expect(await (await site.call('/threads/t1/skills')).text()).toContain('<name>plan</name>')
  expect((await site.call('/threads/t2/files/a.txt')).status).toBe(404)
  expect(new Set(site.events.map(({ labels }) => `${labels['thread']} ${labels['user']}`))).toEqual(
    new Set(['t1 u1', 't2 u1']),
  )
})

it('answers wrong requests with the words of the workspace', async () => {
  await using site = await serve(createMemoryAdapter(), [createVirtualExecutor()])
  expect((await site.call('/threads/t1/files/a', { headers: {} })).status).toBe(401)
  expect((await site.call('/threads/..%2ft2/files/a')).status).toBe(400)
  const missing = await site.call('/threads/t1/files/none')
  expect(missing.status).toBe(404)
  expect(await missing.json()).toMatchObject({ error: { code: 'ENOENT', path: '/none' } })
  expect((await site.call('/threads/t1/exec', { method: 'POST', body: 'no json' })).status).toBe(400)
  expect((await site.call('/threads/t1/exec', { method: 'POST', body: 'null' })).status).toBe(400)
  expect((await site.call('/threads/t1/files/%zz')).status).toBe(400)
  const big = await site.call('/threads/t1/files/big', { method: 'PUT', body: 'x'.repeat(1_100_000) })
  expect([big.status, await big.json()]).toMatchObject([413, { error: { code: 'EFBIG' } }])
  for (const authorization of ['Bearer on', 'Bearer onee', 'one', 'Bearer', 'Basic one']) {
    const refused = await site.call('/threads/t1/files/a', { headers: { authorization } })
    expect([refused.status, await refused.json()]).toMatchObject([401, { error: { code: 'ENOTOKEN' } }])
  }
})

it("keeps a user's thread from others, also while nobody has it open, and after a restart", async () => {
  const store = createMemoryAdapter()
  const bob = { authorization: 'Bearer two' }
  for (let start = 0; start < 2; start += 1) {
    await using site = await serve(store, [createVirtualExecutor()])
    expect((await site.call('/threads/t1/files/a.txt', { method: 'PUT', body: 'of alice' })).status).toBe(200)
    for (const id of ['t1', 'T1']) {
      const asked = [
        site.call(`/threads/${id}/files/a.txt`, { headers: bob }),
        site.call(`/threads/${id}/files/a.txt`, { method: 'PUT', body: 'of bob', headers: bob }),
        site.call(`/threads/${id}/exec`, { ...exec('cat a.txt'), headers: bob }),
        site.call(`/threads/${id}/skills`, { headers: bob }),
      ]
      for (const answer of await Promise.all(asked)) {
        expect([answer.status, await answer.json()]).toMatchObject([403, { error: { code: 'EACCES' } }])
      }
    }
    expect(await (await site.call('/threads/t1/files/a.txt')).text()).toBe('of alice')
    await site.service.close()
    await site.service.close()
  }
})

itWith(component('bubblewrap'), 'lets a command wait for a client that does not read', async () => {
  await using scratch = await createScratchDirectory({ prefix: 'ws-service-' })
  await using store = await createLocalAdapter({ root: scratch.path })
  await using site = await serve(store, [createBubblewrapExecutor()])
  let most = 0
  let writes = 0
  site.service.server.on('request', (_request, response: ServerResponse) => {
    const write = response.write.bind(response) as (chunk: Uint8Array) => boolean
    response.write = (chunk: Uint8Array) => {
      const took = write(chunk)
      writes += 1
      most = Math.max(most, response.writableLength)
      return took
    }
  })
  const size = 48 * 1024 * 1024
  const response = await site.call('/threads/t1/exec', exec(`head -c ${size} /dev/zero`))
  // until the server writes nothing more: it waits, or it has all in memory
  for (let before = -1; before !== writes; await delay(300)) before = writes
  expect(most).toBeLessThan(2 * 1024 * 1024)
  expect((await response.arrayBuffer()).byteLength).toBe(size + '\n{"exitCode":0,"timedOut":false}\n'.length)
})

itWith(
  component('bubblewrap'),
  'streams a command, and ends it when its client goes away, and when it shuts down',
  async () => {
    await using scratch = await createScratchDirectory({ prefix: 'ws-service-' })
    await using store = await createLocalAdapter({ root: scratch.path })
    await using site = await serve(store, [createBubblewrapExecutor()])
    for (const end of ['client', 'service'] as const) {
      const { env, survivors } = createMarker()
      const client = new AbortController()
      const response = await site.call('/threads/t1/exec', {
        ...exec(`export WS_MARK=${env.WS_MARK}; echo up; exec sleep 1000`),
        signal: client.signal,
      })
      const reader = response.body?.getReader()
      expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('up\n')
      const rest = reader?.read().catch(() => undefined)
      await until(() => survivors().length > 0)
      if (end === 'client') client.abort()
      else await site.service.close()
      await until(() => survivors().length === 0)
      await rest
    }
  },
)
