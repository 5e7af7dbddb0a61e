import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

import { createMemoryAdapter } from '@ws/adapter-memory'
import { type AccessEvent, createWorkspace, rules, type Workspace } from '@ws/core'
import { openOddServer } from '@ws/test-fixtures'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'

import { createVirtualExecutor } from '../src/index.ts'
import type { VirtualNetwork } from '../src/options.ts'

let server: Server
const seen: string[] = []

const answer: RequestListener = ({ headers, url }, response) => {
  seen.push(`${headers.host}${url}`)
  if (url === '/missing') response.statusCode = 404
  if (url?.startsWith('/to/')) response.writeHead(302, { location: `http://${url.slice(4)}/text` })
  if (url === '/never') return
  response.end(url === '/bytes' ? Buffer.from([0, 255, 10]) : `answer to ${url}\n`)
}

beforeAll(async () => {
  server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

const network: VirtualNetwork = {
  allow: ['api.test', '*.wild.test'],
  addresses: ['127.0.0.1'],
  resolve: async () => [{ address: '127.0.0.1', port: (server.address() as AddressInfo).port }],
}

async function open(
  given: 'none' | Partial<VirtualNetwork> = {},
  more: Partial<Parameters<typeof createWorkspace>[0]> = {},
): Promise<{ workspace: Workspace; events: AccessEvent[] }> {
  const workspace = await createWorkspace({
    mounts: [{ at: '/', adapter: createMemoryAdapter() }],
    executors: [createVirtualExecutor({ network: given === 'none' ? given : { ...network, ...given } })],
    ...more,
  })
  onTestFinished(() => workspace.close())
  const events: AccessEvent[] = []
  workspace.on('access', (event) => events.push(event))
  seen.length = 0
  return { workspace, events }
}

describe('`curl` for listed hosts', () => {
  it.each([
    ['curl -s http://api.test/text', 'answer to /text\n', 0],
    ['curl api.test/text any.wild.test/', 'answer to /text\nanswer to /\n', 0],
    ['curl -so copy http://api.test/text && cat copy', 'answer to /text\n', 0],
    ['curl -sO http://api.test/a/name?q && cat name', 'answer to /a/name?q\n', 0],
    ['curl -s http://api.test/bytes | od -An -tu1', '   0 255  10\n', 0],
    ['curl -s http://api.test/text | grep -c answer', '1\n', 0],
    ['curl -s http://api.test/missing', 'answer to /missing\n', 0],
    ['curl -sf http://api.test/missing', '', 22],
    ['curl -s http://api.test/to/any.wild.test', 'answer to /to/any.wild.test\n', 0],
    ['curl -sL http://api.test/to/any.wild.test', 'answer to /text\n', 0],
    ['curl -s -m 0.2 http://api.test/never', '', 28],
    ['curl -so none/copy http://api.test/text', '', 23],
    ['curl -s ftp://api.test/', '', 3],
  ])('[NW8] does what the real one does: %s', async (command, stdout, exitCode) => {
    const { workspace } = await open()
    expect(await workspace.exec(command)).toMatchObject({ stdout, exitCode })
  })

  it.each([
    ['another host', 'http://evil.test/', 'evil.test'],
    ['an address', 'http://127.0.0.1/', '127.0.0.1'],
    ['another port', 'http://api.test:8080/', 'api.test'],
    ['a redirect', 'http://api.test/to/evil.test', 'evil.test'],
  ])('[NW8, NW6] reaches no other: %s', async (_, url, host) => {
    const { workspace, events } = await open()
    const { exitCode, stdout, stderr, violations } = await workspace.exec(`curl -sSL ${url}`)
    expect({ exitCode, stdout }).toEqual({ exitCode: 6, stdout: '' })
    const words = /^\d/u.test(host) ? 'is an address, .*; .*by its name' : 'is not in the list .*; .*`network.allow`'
    expect(stderr).toMatch(new RegExp(`^curl: \\(6\\) \`${host}\`.* ${words}`))
    expect(violations).toMatchObject([
      { host, rule: 'network', remedy: expect.stringMatching(/by its name|`network.allow`/u) },
    ])
    expect(seen.filter((one) => !one.startsWith('api.test/to'))).toEqual([])
    expect(events.filter(({ operation }) => operation === 'connect')).toContainEqual(
      expect.objectContaining({ outcome: 'denied' }),
    )
  })

  it('[NW8] dials no private address that the operator has not listed', async () => {
    const { workspace } = await open({ addresses: [] })
    const { exitCode, stderr } = await workspace.exec('curl http://api.test/')
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 6, stderr: expect.stringContaining('not public') })
    expect(seen).toEqual([])
  })

  it('[NW4] is narrowed by a rule of the workspace, which the refusal names', async () => {
    const { workspace } = await open({}, { rules: [rules.allowHosts(['api.test'], { name: 'only-api' })] })
    const { stdout, stderr, violations } = await workspace.exec(
      'curl -s http://api.test/; curl -sS http://any.wild.test/',
    )
    expect(stdout).toBe('answer to /\n')
    expect(stderr).toContain('only-api')
    expect(violations).toMatchObject([{ host: 'any.wild.test', rule: 'only-api' }])
    expect(await workspace.explain({ operation: 'connect', host: 'any.wild.test' })).toMatchObject({
      effect: 'deny',
      rule: 'only-api',
    })
  })

  it.each(['0.0001', '99999999', '1e3', '0.5000001'])(
    '[HO4] takes the time `-m %s` and the process goes on',
    async (seconds) => {
      const { workspace } = await open()
      const { exitCode } = await workspace.exec(`curl -s -m ${seconds} http://api.test/text`)
      expect([0, 2, 28]).toContain(exitCode)
      expect(await workspace.exec('curl -s http://api.test/text')).toMatchObject({ exitCode: 0 })
    },
  )

  it.each([
    ['HTTP/1.1 099 x\r\n\r\n', 7, '', /`api.test` gave an answer that HTTP\/1\.1 does not allow/],
    ['HTTP/1.1 200 a\u0001b\r\nContent-Length: 2\r\n\r\nok', 0, 'ok', /^$/],
    ['HTTP/1.1 101 x\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n', 7, '', /`api.test` gave an answer/],
  ])('[HO4] lives with the answer %j', async (bytes, exitCode, stdout, stderr) => {
    const odd = await openOddServer()
    onTestFinished(() => odd[Symbol.asyncDispose]())
    odd.answer = { bytes }
    const { workspace } = await open({ resolve: async () => [{ address: '127.0.0.1', port: odd.port }] })
    const result = await workspace.exec('curl -sS http://api.test/')
    expect(result).toMatchObject({ exitCode, stdout, stderr: expect.stringMatching(stderr) })
  })

  it('[NW6] gives the guarantee `names`, and only with a list', async () => {
    const guaranteesOf = async (options?: Parameters<typeof createVirtualExecutor>[0]) =>
      (await createVirtualExecutor(options).probe()).guarantees
    expect(await guaranteesOf({ network })).toMatchObject({ network: 'names', fileContent: 'interpreter' })
    expect(await guaranteesOf()).toMatchObject({ network: 'interpreter' })
    const { workspace } = await open('none')
    expect(await workspace.exec('curl http://api.test/')).toMatchObject({ exitCode: 127 })
  })

  it('ends with its command', async () => {
    const { workspace } = await open()
    const result = await workspace.exec('curl -s http://api.test/never', { timeout: 300 })
    expect(result).toMatchObject({ timedOut: true })
  })

  it('says which forms it has', async () => {
    const { workspace } = await open()
    const { exitCode, stderr } = await workspace.exec('curl -X POST http://api.test/')
    expect(exitCode).toBe(126)
    expect(stderr).toContain('curl -X: not supported')
  })
})

describe('bad input of `network`', () => {
  it.each([
    ['host', /`network` must be `none`, or an object/],
    [{}, /`network.allow` must be/],
    [{ allow: ['127.0.0.1'] }, /`network.allow\[0\]` must be a name, not an address/],
    [{ allow: [], addresses: ['x'] }, /`network.addresses\[0\]` must be an address/],
    [{ allow: [], bytes: 1 }, /`network.bytes` is not an option/],
  ])('is one sentence: %j', (given, message) => {
    expect(() => createVirtualExecutor({ network: given as VirtualNetwork })).toThrow(message)
  })
})
