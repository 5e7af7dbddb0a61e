import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { createLocalAdapter } from '@ws/adapter-local'
import { type AccessEvent, createWorkspace, rules, type Workspace, type WorkspaceOptions } from '@ws/core'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createProotExecutor } from '@ws/executor-proot'
import { createSanitizeExecutor } from '@ws/executor-sanitize'
import { component, createScratchDirectory, describeWith } from '@ws/test-fixtures'
import { describe, expect, it, onTestFinished } from 'vitest'

const network = { allow: ['api.test', 'db.test:5432'], addresses: ['127.0.0.1'] }

async function open(more: Partial<Pick<WorkspaceOptions, 'require' | 'rules' | 'executors'>> = {}) {
  const server = createServer((_, response) => response.end('from the host\n'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const scratch = await createScratchDirectory()
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await scratch.remove()
  })
  const workspace = await createWorkspace({
    mounts: [{ at: '/workspace', adapter: () => createLocalAdapter({ root: scratch.path, owner: scratch.owner }) }],
    executors: [
      createBubblewrapExecutor({ network: { ...network, resolve: async () => [{ address: '127.0.0.1', port }] } }),
    ],
    labels: { thread: 't1' },
    ...more,
  })
  onTestFinished(() => workspace.close())
  const events: AccessEvent[] = []
  workspace.on('access', (event) => events.push(event))
  return { workspace, events }
}

const explained = async (workspace: Workspace, host: string, port?: number) => {
  const { effect, entry, code, rule, remedy, enforcedBy } = await workspace.explain({
    operation: 'connect',
    host,
    port,
  })
  return { effect, entry, code, rule, remedy, enforcedBy }
}

describeWith([component('bubblewrap'), component('perl')], 'a workspace with a list of hosts', () => {
  it('[NW6] tells each connection and each refusal to the audit, and refusals to the caller', async () => {
    const { workspace, events } = await open()
    const result = await workspace.exec('curl -s http://api.test/; curl -s http://evil.test/; true')
    expect(result.stdout).toBe('from the host\n')
    const refused = {
      rule: 'network',
      kind: 'refused',
      host: 'evil.test',
      remedy: expect.stringContaining('`evil.test`'),
    }
    expect(result.violations).toMatchObject([refused])
    const common = {
      door: 'exec',
      operation: 'connect',
      path: '/workspace',
      labels: { thread: 't1' },
      executor: 'bubblewrap',
    }
    // a connection is told when it has ended, which may be after the next refusal
    const connections = events.filter(({ operation }) => operation === 'connect')
    expect(connections.sort((one) => (one.outcome === 'allowed' ? -1 : 1))).toMatchObject([
      { ...common, outcome: 'allowed', connection: { host: 'api.test', port: 80, entry: 'api.test' } },
      { ...common, outcome: 'denied', code: 'EACCES', rule: 'network', connection: { host: 'evil.test' } },
    ])
    expect(events.find(({ operation }) => operation === 'exec')?.violations).toMatchObject([refused])
  })

  it('[NW6] tells the audit of many refusals of one command by one event with their number', async () => {
    const { workspace, events } = await open()
    const ask = `$s = IO::Socket::INET->new(Proto => "udp", PeerAddr => "198.18.0.1", PeerPort => 53);
      for $i (1 .. 1500) {
        $s->send(pack("n6 C/a* C/a* C/a* x n2", $i, 256, 1, 0, 0, 0, "n$i", "evil", "test", 1, 1));
        $s->recv($answer, 512);
      }`
    const { exitCode, violations } = await workspace.exec(
      `perl -MIO::Socket::INET -e '${ask}'; curl -s http://api.test/`,
    )
    expect(exitCode).toBe(0)
    expect(violations).toHaveLength(100)
    const connections = events.filter(({ operation }) => operation === 'connect')
    const refused = connections.filter(({ outcome }) => outcome === 'denied')
    expect(refused).toHaveLength(1_001)
    expect(refused.at(-1)).toMatchObject({ code: 'EACCES', connection: { host: '*', leftOut: 500 } })
    // they hide no connection
    expect(connections).toContainEqual(expect.objectContaining({ outcome: 'allowed' }))
    await workspace.exec('curl -s http://evil.test/; true')
    expect(events.at(-2)).toMatchObject({ operation: 'connect', connection: { host: 'evil.test' } })
  })

  it('[NW6] explains a connection beforehand', async () => {
    const { workspace } = await open()
    const held = { files: 'interpreter', exec: 'names' }
    const allowed = { effect: 'allow', code: undefined, rule: undefined, remedy: undefined, enforcedBy: held }
    expect(await explained(workspace, 'API.test')).toEqual({ ...allowed, entry: 'api.test' })
    expect(await explained(workspace, 'db.test', 5432)).toEqual({ ...allowed, entry: 'db.test:5432' })
    const denied = { effect: 'deny', entry: undefined, code: 'EACCES', rule: 'network', enforcedBy: held }
    const remedy = expect.stringContaining('`db.test`')
    expect(await explained(workspace, 'db.test')).toEqual({ ...denied, remedy })
    await expect(workspace.explain({ operation: 'connect' })).rejects.toMatchObject({ code: 'EINVAL' })
    await expect(workspace.explain({ operation: 'read' })).rejects.toMatchObject({ code: 'EINVAL' })
  })

  it('[NW1] is not taken where `kernel` or `untrusted` is required, and is where `names` is', async () => {
    for (const require of ['untrusted', { network: 'kernel' }] as const) {
      await expect(open({ require })).rejects.toMatchObject({
        code: 'ENOEXECUTOR',
        message: expect.stringContaining('network'),
      })
    }
    const { workspace } = await open({ require: { network: 'names' } })
    expect(workspace.executor?.guarantees).toMatchObject({ network: 'names', sockets: 'kernel' })
  })
})

describeWith([component('bubblewrap'), component('perl')], '`rules.allowHosts`', () => {
  const narrow = [rules.allowHosts(['db.test:5432', 'elsewhere.test'])]

  it('[NW4, NW6] narrows the list for commands, and names the rule with its remedy', async () => {
    const { workspace, events } = await open({ rules: narrow })
    const script = `curl -s http://api.test/ || echo api $?; curl -s --http0.9 http://db.test:5432/; curl -s http://elsewhere.test/; true`
    const { stdout, violations } = await workspace.exec(script)
    expect(stdout).toBe('api 6\nfrom the host\n')
    const remedy = expect.stringMatching(/entry `api\.test` in the rule `allowHosts`/)
    expect(violations).toMatchObject([
      { rule: 'allowHosts', kind: 'refused', host: 'api.test', remedy },
      { rule: 'network', kind: 'refused', host: 'elsewhere.test', remedy: expect.stringContaining('`network.allow`') },
    ])
    const connections = events.filter(({ operation }) => operation === 'connect')
    expect(connections.filter(({ outcome }) => outcome === 'denied')).toMatchObject([
      { rule: 'allowHosts', connection: { host: 'api.test' } },
      { rule: 'network', connection: { host: 'elsewhere.test' } },
    ])
    expect(connections).toContainEqual(
      expect.objectContaining({ outcome: 'allowed', connection: expect.objectContaining({ entry: 'db.test:5432' }) }),
    )
    expect(await explained(workspace, 'api.test')).toMatchObject({ effect: 'deny', rule: 'allowHosts', remedy })
    expect(await explained(workspace, 'db.test', 5432)).toMatchObject({ effect: 'allow', entry: 'db.test:5432' })
    expect(await explained(workspace, 'elsewhere.test')).toMatchObject({ effect: 'deny', rule: 'network' })
  })

  it('[NW4] is dropped for the command that acknowledges it, and for no other', async () => {
    const { workspace } = await open({ rules: narrow })
    const { stdout } = await workspace.exec('curl -s http://api.test/', { acknowledge: ['allowHosts'] })
    expect(stdout).toBe('from the host\n')
    expect((await workspace.exec('curl -s http://api.test/ || echo $?')).stdout).toBe('6\n')
  })

  it('[NW4, NW6] holds in sessions, whose end names refused hosts', async () => {
    const { workspace } = await open({ rules: narrow })
    await using session = await workspace.openSession({
      command: 'curl -s http://api.test/; curl -s http://evil.test/; true',
    })
    expect((await session.wait()).violations).toMatchObject([
      { rule: 'allowHosts', kind: 'refused', host: 'api.test', remedy: expect.any(String) },
      { rule: 'network', kind: 'refused', host: 'evil.test', remedy: expect.any(String) },
    ])
  })

  it('leaves commands without a network as they are', async () => {
    const { workspace } = await open({ rules: narrow, executors: [createBubblewrapExecutor()] })
    expect((await workspace.exec('curl -s http://api.test/ || echo $?')).stdout).toBe('6\n')
    expect(await explained(workspace, 'db.test', 5432)).toMatchObject({ effect: 'deny', rule: 'network' })
  })

  it('[NW4] refuses commands that share the network of the machine, and says so beforehand', async () => {
    const { workspace } = await open({ rules: narrow, executors: [createBubblewrapExecutor({ network: 'host' })] })
    await expect(workspace.exec('true')).rejects.toMatchObject({
      code: 'EUNENFORCEABLE',
      rule: 'allowHosts',
      remedy: expect.stringContaining('network: { allow: [...] }'),
    })
    const { unenforceable } = await workspace.explain({ operation: 'connect', host: 'db.test', port: 5432 })
    expect(unenforceable).toMatchObject([{ rule: 'allowHosts' }])
    expect((await workspace.exec('echo ran', { acknowledge: ['allowHosts'] })).stdout).toBe('ran\n')
  })
})

describe('executors that share the network of the machine', () => {
  it.each([
    ['proot', createProotExecutor],
    ['sanitize', createSanitizeExecutor],
  ])('[NW1] refuse a list of hosts: %s', (_, create) => {
    expect(() => create({ network } as object)).toThrow(
      expect.objectContaining({ code: 'EUNENFORCEABLE', remedy: expect.stringContaining('createBubblewrapExecutor') }),
    )
  })
})
