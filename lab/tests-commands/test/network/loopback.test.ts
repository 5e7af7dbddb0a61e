import { createLocalAdapter } from '@ws/adapter-local'
import { type AccessEvent, createWorkspace, rules, type Workspace, type WorkspaceOptions } from '@ws/core'
import { type BubblewrapExecutorOptions, createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { component, createScratchDirectory, describeWith, type ScratchDirectory } from '@ws/test-fixtures'
import { expect, it, onTestFinished } from 'vitest'

interface Place extends Partial<Pick<WorkspaceOptions, 'rules'>> {
  readonly at?: string
  readonly scratch?: ScratchDirectory
  readonly executor?: BubblewrapExecutorOptions
}

async function open({ at = '/workspace', scratch, executor, ...more }: Place = {}): Promise<Workspace> {
  const directory = scratch ?? (await createScratchDirectory())
  if (scratch === undefined) onTestFinished(() => directory.remove())
  const { path: root, owner } = directory
  const workspace = await createWorkspace({
    mounts: [{ at, adapter: () => createLocalAdapter({ root, owner }) }],
    executors: [createBubblewrapExecutor(executor)],
    ...more,
  })
  onTestFinished(() => workspace.close())
  return workspace
}

const port = 8123
const serve = `python3 -u -m http.server --bind 127.0.0.1 ${port}`
const ask = `curl -s -m 20 --retry 50 --retry-connrefused --retry-delay 0 localhost:${port}/ | head -n 1`
const refused = `curl -s localhost:${port}/ || echo $?`

describeWith([component('bubblewrap'), component('perl'), component('python3')], 'servers of a workspace', () => {
  it.each(['/workspace', '/'])('[SV1] are reached from later commands and sessions: a mount at %s', async (at) => {
    const workspace = await open({ at })
    const server = await workspace.start(serve)
    expect((await workspace.exec(ask)).stdout).toMatch(/^<!DOCTYPE/)
    await using session = await workspace.openSession({ command: ask })
    let seen = ''
    session.onData((data) => (seen += Buffer.from(data).toString()))
    await session.wait()
    expect(seen).toMatch(/<!DOCTYPE/)
    server.kill('SIGKILL')
    await server.wait()
    expect((await workspace.exec(refused)).stdout).toBe('7\n')
  })

  it('[SV1] are reached from no other workspace, also where both have one directory, one owner and one executor', async () => {
    await using scratch = await createScratchDirectory()
    const workspace = await open({ scratch })
    const server = await workspace.start(serve)
    expect((await workspace.exec(ask)).stdout).toMatch(/^<!DOCTYPE/)
    const others = [await open({ scratch }), await open({ scratch, executor: { network: { allow: ['a.test'] } } })]
    for (const other of others) expect((await other.exec(refused)).stdout).toBe('7\n')
    server.kill('SIGKILL')
    await server.wait()
    await Promise.all([workspace, ...others].map((one) => one.close()))
  })

  it('[SV1, NW1] are not reached by a command with another list of hosts, which an acknowledged rule gives it', async () => {
    const executor = { network: { allow: ['a.test', 'b.test'], resolve: async () => [] } }
    const narrow = rules.allowHosts(['a.test'], { name: 'narrow' })
    const workspace = await open({ executor, rules: [narrow] })
    const server = await workspace.start(serve)
    expect((await workspace.exec(ask)).stdout).toMatch(/^<!DOCTYPE/)
    expect((await workspace.exec(refused, { acknowledge: ['narrow'] })).stdout).toBe('7\n')
    server.kill('SIGKILL')
    await server.wait()
  })

  it('[SV1, RU1] are not reached by a command that acknowledges a rule, and pass on nothing that the rule withholds', async () => {
    const workspace = await open({ rules: [rules.deny('/workspace/private', { name: 'private' })] })
    await workspace.exec('mkdir -p private; echo secret > private/index.html', { acknowledge: ['private'] })
    const server = await workspace.start(`cd private; ${serve}`, { acknowledge: ['private'] })
    expect((await workspace.exec(ask, { acknowledge: ['private'] })).stdout).toBe('secret\n')
    expect((await workspace.exec(refused)).stdout).toBe('7\n')
    expect(await workspace.ports()).toEqual([])
    server.kill('SIGKILL')
    await server.wait()
  })

  it('[NW6] let the audit name the workspace for a connection that can be of several commands', async () => {
    const workspace = await open({ executor: { network: { allow: ['a.test'] } } })
    await workspace.createDirectory('/workspace/sub')
    const events: AccessEvent[] = []
    workspace.on('access', (event) => events.push(event))
    const options = { cwd: '/workspace/sub' }
    const alone = await workspace.exec('curl -s http://alone.test/; true', options)
    const server = await workspace.start(serve, options)
    const both = await workspace.exec('curl -s http://both.test/; true', options)
    server.kill('SIGKILL')
    await server.wait()
    expect([alone.violations, both.violations]).toEqual([
      [expect.not.objectContaining({ shared: true })],
      [expect.objectContaining({ host: 'both.test', shared: true })],
    ])
    const connections = events.filter(({ operation }) => operation === 'connect')
    expect(connections).toMatchObject([
      { path: '/workspace/sub', connection: { host: 'alone.test' } },
      { path: '/workspace', connection: { host: 'both.test', shared: true } },
    ])
  })
})
