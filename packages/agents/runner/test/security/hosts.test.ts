import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { component, describeWith } from '@ws/test-fixtures'
import { describe, expect, it, onTestFinished } from 'vitest'

import { createSite } from '../support.ts'

const plan = (steps: readonly object[]) => ({ version: 1, onFailure: 'continue', onBreach: 'continue', steps })
const fetching = (id: string, host: string, hosts?: readonly string[]) => ({
  id,
  type: 'command',
  with: { run: `curl -sf http://${host}/ > $OUTPUT/${id}` },
  outputs: [id],
  ...(hosts && { hosts }),
})

// Four sandboxes and one server.
describeWith([component('bubblewrap'), component('perl')], 'the hosts of a step', () => {
  it('[NW4, NW6] narrow the list of its commands, and a failed step names the refused host', async () => {
    const server = createServer((_, response) => response.end('from the host\n'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    await using site = await createSite()
    const network = {
      allow: ['api.test', 'other.test'],
      addresses: ['127.0.0.1'],
      resolve: async () => [{ address: '127.0.0.1', port }],
    }
    const runner = await site.runner({ executors: [createBubblewrapExecutor({ network })] })
    const { steps } = await runner.run(
      plan([
        fetching('all', 'other.test'),
        fetching('one', 'api.test', ['api.test']),
        fetching('two', 'other.test', ['api.test']),
        fetching('none', 'api.test', []),
      ]),
    )
    expect(await site.read('workspace/out/all')).toBe('from the host\n')
    expect(await site.read('workspace/out/one')).toBe('from the host\n')
    expect(steps['two']).toMatchObject({ failure: { code: 'ESECURITY', rule: 'hosts' } })
    expect(JSON.stringify(steps['two'])).toContain('`other.test` is not in the list of hosts of the rule `hosts`')
    expect(steps['none']).toMatchObject({ failure: { rule: 'hosts' } })
  })
})

// the interpreter takes no sandbox
it('[RU14] a step downloads by its commands alone, from its hosts: its tools have no way out', async () => {
  let requests = 0
  const server = createServer((_, response) => {
    requests += 1
    response.end('from the host\n')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  await using site = await createSite()
  const asked: string[] = []
  const network = {
    allow: ['api.test', 'other.test'],
    addresses: ['127.0.0.1'],
    resolve: async (name: string) => {
      asked.push(name)
      return [{ address: '127.0.0.1', port }]
    },
  }
  const runner = await site.runner({ executors: [createVirtualExecutor({ network })] })
  const url = 'http://api.test/?q=SECRET'
  const download = (id: string, face: string, tool: string) => {
    const given = { operation: 'download', url, path: id }
    const { operation: _, ...split } = given
    return { id, type: 'tool', with: { face, tool, arguments: face === 'split' ? split : given }, outputs: [id] }
  }
  const { steps } = await runner.run(
    plan([
      download('split', 'split', 'download'),
      { ...download('single', 'file_system', 'file_system'), hosts: ['api.test'] },
      fetching('other', 'other.test', ['api.test']),
    ]),
  )
  for (const id of ['split', 'single']) expect(steps[id]).toMatchObject({ state: 'failed', files: 0 })
  expect(steps['other']).toMatchObject({ failure: { rule: 'hosts' } })
  expect({ requests, asked }).toEqual({ requests: 0, asked: [] })
})

describe('bad hosts of a step', () => {
  it.each([
    [['10.0.0.1'], 'must be a name, not an address'],
    [['a.test', 'A.test:80'], 'must not repeat the entry `a.test`'],
    [['a.*.test'], 'can have a wildcard only as its whole first label'],
  ])('[NW4] are found without running the plan: %j', async (hosts, reason) => {
    await using site = await createSite()
    const runner = await site.runner()
    const { problems } = await runner.check(plan([fetching('one', 'a.test', hosts)]))
    expect(problems).toMatchObject([{ step: 'one', reason: expect.stringContaining(reason) }])
  })
})
