/** @module-tag all */
import type { Client } from '@modelcontextprotocol/client'
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { createScratchDirectory } from '@ws/test-fixtures'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'

import { openEarlierHttp, openEarlierStdio, openHttp, openStdio } from './support/clients.ts'
import { openWorkspace, serveOne } from './support/serve.ts'

/** URIs that a client is notified of, one at a time. */
function inbox() {
  const waiting: ((uri: string) => void)[] = []
  const come: string[] = []
  let last = ''
  return {
    put: (uri: string) => {
      const next = waiting.shift()
      if (next === undefined) come.push(uri)
      else next(uri)
    },
    /** The next URI that differs from the one before: a command may change a file twice. */
    next: async () => {
      for (;;) {
        const told = come.shift() ?? (await new Promise<string>((resolve) => waiting.push(resolve)))
        if (told !== last) return (last = told)
      }
    },
    left: () => come.filter((told) => told !== last),
  }
}

async function scratchDirectory(): Promise<string> {
  const scratch = await createScratchDirectory()
  onTestFinished(() => scratch.remove())
  return scratch.path
}

const uri = (path: string): string => `workspace://${path}`
const write = (path: string, content: string) => ({ name: 'write', arguments: { path, content } })
const execute = (command: string) => ({ name: 'execute', arguments: { command } })

describe.each<[string, () => Promise<Client>]>([
  ['over stdio', async () => openStdio(await scratchDirectory(), 'split')],
  ['over HTTP', async () => openHttp((await serveOne(await openWorkspace({}))).url)],
])('a stream of changes %s', (_name, open) => {
  it('tells of changes by tools, by commands and through links, and of nothing else', async () => {
    const client = await open()
    onTestFinished(() => client.close())
    const { put, next, left } = inbox()
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => put(params.uri))
    await client.callTool(write('/target.txt', '1'))
    await client.callTool(execute('ln -s target.txt link.txt'))
    const subscription = await client.listen({
      resourceSubscriptions: [uri('/a.txt'), uri('/b%20c.txt'), uri('/link.txt'), uri('/secret')],
    })
    await client.callTool(write('/other.txt', 'x'))
    await client.callTool(write('/a.txt', '1'))
    expect(await next()).toBe(uri('/a.txt'))
    await client.callTool(execute("echo 22 > 'b c.txt'"))
    expect(await next()).toBe(uri('/b%20c.txt'))
    await client.callTool(execute('cat a.txt'))
    await client.callTool(write('/target.txt', 'two'))
    expect(await next()).toBe(uri('/link.txt'))
    await client.callTool({ name: 'move', arguments: { from: '/a.txt', to: '/elsewhere.txt' } })
    expect(await next()).toBe(uri('/a.txt'))
    await subscription.close()
    expect(left()).toEqual([])
  })
})

describe('a stream of changes of a directory', () => {
  it('[EF4] tells of changes by other programs', async () => {
    const directory = await scratchDirectory()
    const client = await openStdio(directory, 'split')
    onTestFinished(() => client.close())
    const { put, next, left } = inbox()
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => put(params.uri))
    const subscription = await client.listen({
      resourceSubscriptions: [uri('/later/a.txt'), uri('/../outside'), uri('/b.txt')],
    })
    await mkdir(join(directory, 'later'))
    await writeFile(join(directory, 'later/a.txt'), '1')
    expect(await next()).toBe(uri('/later/a.txt'))
    await writeFile(join(directory, 'b.txt'), '1')
    expect(await next()).toBe(uri('/b.txt'))
    await subscription.close()
    expect(left()).toEqual([])
  })
})

describe('subscriptions of the earlier protocol', () => {
  it('tell of changes over stdio, until they end', async () => {
    const client = await openEarlierStdio(await scratchDirectory(), 'split')
    onTestFinished(() => client.close())
    const { put, next, left } = inbox()
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => put(params.uri))
    await client.subscribeResource({ uri: uri('/a.txt') })
    await client.subscribeResource({ uri: uri('/b.txt') })
    await client.callTool(write('/a.txt', '1'))
    expect(await next()).toBe(uri('/a.txt'))
    await client.callTool(execute('echo 1 > b.txt'))
    expect(await next()).toBe(uri('/b.txt'))
    await client.unsubscribeResource({ uri: uri('/a.txt') })
    await client.callTool(write('/a.txt', '22'))
    await client.callTool(write('/c.txt', '333'))
    await client.subscribeResource({ uri: uri('/d.txt') })
    await client.callTool(write('/d.txt', '4'))
    expect(await next()).toBe(uri('/d.txt'))
    expect(left()).toEqual([])
  })

  it('are not announced over HTTP, which has no stream for them', async () => {
    const client = await openEarlierHttp((await serveOne(await openWorkspace({}))).url)
    onTestFinished(() => client.close())
    expect(client.getServerCapabilities()?.resources?.subscribe).not.toBe(true)
    await expect(client.subscribeResource({ uri: uri('/a.txt') })).rejects.toThrow()
  })
})
