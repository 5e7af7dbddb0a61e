import { Runner, RunState } from '@openai/agents'
import {
  EnvValueReference,
  Manifest,
  registerEnvValueReference,
  SandboxAgent,
  SandboxError,
  shell,
} from '@openai/agents/sandbox'
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents/testing'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createSandboxClient } from '@ws/bridge-openai-agents'
import type { WorkspaceRequest } from '../src/sandbox/client.ts'
import { createWorkspace } from '@ws/core'
import type { Workspace } from '@ws/core'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { describe, expect, it, onTestFinished } from 'vitest'

import { openFiles, openSite, sites } from '@ws/tests-support/bridges'

/** Opens workspaces on stores that outlive them. */
function opening() {
  const stores = new Map<string, ReturnType<typeof createMemoryAdapter>>()
  const data = createMemoryAdapter({ files: { '/a.csv': 'a,b\n' } })
  const opened: Workspace[] = []
  const requests: WorkspaceRequest[] = []
  onTestFinished(() => Promise.all(opened.map((workspace) => workspace.close())).then(() => data.close()))
  const open = async (request: WorkspaceRequest): Promise<Workspace> => {
    requests.push(request)
    const adapter = stores.get(request.id) ?? createMemoryAdapter()
    stores.set(request.id, adapter)
    const workspace = await createWorkspace({
      mounts: [
        { at: '/', adapter },
        ...request.mounts.map(() => ({ at: '/data', adapter: data, access: 'read-only' as const })),
      ],
      executors: [createVirtualExecutor()],
    })
    opened.push(workspace)
    return workspace
  }
  return { open, opened, requests }
}

describe('a client', () => {
  it('opens a workspace for each session, and closes it with the session', async () => {
    const { open, opened, requests } = opening()
    const client = createSandboxClient(open)
    const first = await client.create({ options: { id: 'one' } })
    const second = await client.create()
    expect(requests[0]).toMatchObject({ id: 'one', mounts: [] })
    await first.workspace.write('a', 'a')
    expect(await second.pathExists('a')).toBe(false)
    await first.shutdown()
    await expect(opened[0]?.readText('a')).rejects.toMatchObject({ code: 'ECLOSED' })
    await second.delete()
  })

  it('opens the same workspace again for a stored state', async () => {
    const client = createSandboxClient(opening().open)
    const manifest = { environment: { KEPT: 'yes', GONE: { value: 'secret', ephemeral: true } } }
    const session = await client.create({ manifest, options: { id: 'one' } })
    await session.workspace.write('kept.txt', 'kept')
    const stored = JSON.stringify(await client.serializeSessionState(session.state))
    expect(stored).not.toContain('secret')
    await session.close()
    const state = await client.deserializeSessionState(JSON.parse(stored) as Record<string, unknown>)
    const resumed = await client.resume(state)
    expect((await resumed.exec({ cmd: 'cat kept.txt; echo " $KEPT$GONE"' })).stdout).toBe('kept yes\n')
    await resumed.close()
  })

  it('resolves references of the environment again for a stored state', async () => {
    class Secret extends EnvValueReference {
      static override readonly type = 'ws-test-secret'
      readonly key: string
      constructor(key: string) {
        super()
        this.key = key
      }
      serialize() {
        return { key: this.key }
      }
      resolve() {
        return Promise.resolve(`secret:${this.key}`)
      }
    }
    onTestFinished(registerEnvValueReference(Secret, ({ key }) => new Secret(String(key))))
    const client = createSandboxClient(opening().open)
    const manifest = new Manifest({ environment: { TOKEN: new Secret('k') } })
    const session = await client.create({ manifest, options: { id: 'one' } })
    const shown = async (one: typeof session) => (await one.exec({ cmd: 'echo "$TOKEN"' })).stdout
    expect(await shown(session)).toBe('secret:k\n')
    const stored = JSON.stringify(await client.serializeSessionState(session.state))
    expect(stored).not.toContain('secret:k')
    await session.close()
    const state = await client.deserializeSessionState(JSON.parse(stored) as Record<string, unknown>)
    const resumed = await client.resume(state)
    expect(await shown(resumed)).toBe('secret:k\n')
    await resumed.close()
  })

  it('resumes a run that was stored', async () => {
    const client = createSandboxClient(opening().open)
    const model = new ScriptedModel([
      [functionCall('exec_command', { cmd: 'echo one >a; cat a' }, { callId: 'c1' })],
      [functionCall('exec_command', { cmd: 'cat a' }, { callId: 'c2' })],
      [assistantMessage('done')],
    ])
    const agent = new SandboxAgent({
      name: 'worker',
      model,
      capabilities: [
        shell({
          configureTools: (tools) =>
            tools.map((tool) => ({ ...tool, needsApproval: async () => true })) as typeof tools,
        }),
      ],
    })
    const runner = new Runner({ tracingDisabled: true })
    const sandbox = { client, options: { id: 'one' } }
    // a run that goes on from its state has the type of a first one
    const go = (from: unknown) => runner.run(agent, from as string, { sandbox })
    let result = await go('go')
    while (result.interruptions.length > 0) {
      const state = await RunState.fromString(agent, result.state.toString())
      for (const interruption of state.getInterruptions()) state.approve(interruption)
      result = await go(state)
    }
    expect(result.finalOutput).toBe('done')
    expect(JSON.stringify(model.lastCall?.request.input)).toMatch(/one.*code 0.*one/su)
  })

  it('takes the mounts of a manifest for those of the workspace', async () => {
    const { open, requests } = opening()
    const entries = { data: { type: 'mount', source: '/elsewhere' } } as const
    const session = await createSandboxClient(open).create({ manifest: { entries } })
    expect(requests[0]?.mounts).toMatchObject([
      { path: '/workspace/data', access: 'read-only', entry: { source: '/elsewhere' } },
    ])
    expect((await session.exec({ cmd: 'cat data/a.csv' })).stdout).toBe('a,b\n')
    await session.close()
  })

  it.each<[string, ConstructorParameters<typeof Manifest>[0], RegExp]>([
    [
      'a mount that the workspace has not',
      { entries: { d: { type: 'mount', source: '/d' } } },
      /`\/d` is not a mount.*at: '\/d'/u,
    ],
    ['another root', { root: '/home/agent' }, /`root` of the manifest is `\/home\/agent`/u],
    ['users', { users: [{ name: 'alice' }] }, /leave out `users`/u],
    ['a local directory', { entries: { d: { type: 'local_dir', src: '/etc' } } }, /mount the directory/u],
    ['a repository', { entries: { d: { type: 'git_repo', repo: 'a/b' } } }, /clone the repository/u],
    [
      'a group',
      { entries: { d: { type: 'dir', children: { f: { type: 'file', content: '', group: { name: 'g' } } } } } },
      /leave out `group`/u,
    ],
    ['a grant of a host path', { extraPathGrants: [{ path: '/x', hostPath: '/etc' }] }, /mount the directory/u],
    [
      'an entry that leads out',
      { entries: { 'a/b': { type: 'file', content: 'x' }, a: { type: 'file', content: 'y' } } },
      /./u,
    ],
  ])('refuses %s, and leaves nothing open', async (_, init, words) => {
    const { open, opened } = opening()
    const client = createSandboxClient(async ({ id }) => open({ id, mounts: [] }))
    const failure = await Promise.resolve()
      .then(() => client.create({ manifest: new Manifest(init) }))
      .catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(Error)
    expect(String(failure)).toMatch(words)
    for (const workspace of opened) await expect(workspace.exists('/')).rejects.toMatchObject({ code: 'ECLOSED' })
  })

  it('refuses snapshots, and states of other providers', async () => {
    const client = createSandboxClient(await openFiles())
    await expect(client.create({ snapshot: { type: 'local' } })).rejects.toThrow(/leave out `snapshot`/u)
    await expect(client.deserializeSessionState({ workspaceRootPath: '/x' })).rejects.toThrow(SandboxError)
    expect(() => client.validateSessionStateForResume({ state: {} })).toThrow(/create a new session/u)
  })

  it('needs a workspace', async () => {
    expect(() => createSandboxClient({} as never)).toThrow(/createWorkspace/u)
    await expect(createSandboxClient((() => 7) as never).create()).rejects.toThrow(/createWorkspace/u)
  })

  it('tells a user that an agent asks for that there is one only', async () => {
    const client = createSandboxClient(await openSite(sites[0]!))
    const agent = new SandboxAgent({ name: 'worker', model: new ScriptedModel([]), runAs: 'alice' })
    const run = new Runner({ tracingDisabled: true }).run(agent, 'go', { sandbox: { client } })
    await expect(run).rejects.toThrow(/leave out `users`, `groups` and `runAs`/u)
  })
})
