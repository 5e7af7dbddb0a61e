/** @module-tag all */
import type { CommandDefaults, WorkspaceOptions } from '@ws/core'
import type { CommandRequest, Executor, TerminalRequest } from '@ws/core/executor'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { component, describeWith } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'

import { doors, openSite } from './doors/site.ts'
import { openMemory } from '@ws/tests-files'

/** Keeps what an executor is asked for. */
function recorder(): { executors: Executor[]; requests: (CommandRequest | TerminalRequest)[] } {
  const requests: (CommandRequest | TerminalRequest)[] = []
  const virtual = createVirtualExecutor()
  const executor: Executor = {
    ...virtual,
    async attach(view) {
      const attached = await virtual.attach(view)
      return {
        guarantees: attached.guarantees,
        spawn(request, plan) {
          requests.push(request)
          return attached.spawn(request, plan)
        },
        openTerminal(request) {
          requests.push(request)
          return Promise.reject(new Error('there is no terminal'))
        },
        close: () => attached.close(),
      }
    },
  }
  return { executors: [executor], requests }
}

type Call = Parameters<Awaited<ReturnType<typeof openMemory>>['workspace']['exec']>[1]

async function asked(commands: CommandDefaults | undefined, options?: Call) {
  const { executors, requests } = recorder()
  const { workspace } = await openMemory({ '/': {} }, { executors, commands })
  await workspace.exec('true', options)
  await (await workspace.spawn('true', options)).wait()
  await (await workspace.start('true', options)).wait()
  await workspace.openSession({ command: 'true', ...options }).catch(() => undefined)
  await workspace.close()
  expect(requests).toHaveLength(4)
  return requests.map(({ timeout, env, login }) => ({ timeout, env: { ...env }, login }))
}

describe('defaults for commands', () => {
  it.each<[string, CommandDefaults, Call, { timeout?: number; env: Record<string, string>; login: boolean }]>([
    [
      'hold where a call says nothing',
      { timeout: 500, env: { A: '1' }, login: false },
      undefined,
      { timeout: 500, env: { A: '1' }, login: false },
    ],
    ['give way to a smaller timeout', { timeout: 5000 }, { timeout: 700 }, { timeout: 700, env: {}, login: true }],
    ['hold against a larger timeout', { timeout: 700 }, { timeout: 5000 }, { timeout: 700, env: {}, login: true }],
    [
      'are merged with the variables of a call, which win',
      { env: { A: '1', B: '1' } },
      { env: { B: '2', C: '2' } },
      { env: { A: '1', B: '2', C: '2' }, login: true },
    ],
    [
      'name the author of commits, unless a variable does',
      { gitIdentity: { name: 'Agent', email: 'agent@example.org' }, env: { GIT_COMMITTER_NAME: 'Bot' } },
      undefined,
      {
        env: {
          GIT_AUTHOR_NAME: 'Agent',
          GIT_AUTHOR_EMAIL: 'agent@example.org',
          GIT_COMMITTER_NAME: 'Bot',
          GIT_COMMITTER_EMAIL: 'agent@example.org',
        },
        login: true,
      },
    ],
    ['hold `login: false` against a call', { login: false }, { login: true }, { env: {}, login: false }],
    ['give way to `login: false` of a call', { login: true }, { login: false }, { env: {}, login: false }],
  ])('%s, in exec, spawn, start and openSession', async (_, commands, options, expected) => {
    for (const request of await asked(commands, options)) expect(request).toEqual({ timeout: undefined, ...expected })
  })

  it('keep the smaller amount of output in exec, spawn and start', async () => {
    const { workspace } = await openMemory(
      { '/': {} },
      { executors: recorder().executors, commands: { maxOutputBytes: 10 } },
    )
    const long = 'printf 0123456789abcdefghij'
    expect(await workspace.exec(long)).toMatchObject({ truncated: true, stdoutBytes: 20 })
    expect(await workspace.exec(long, { maxOutputBytes: 1000 })).toMatchObject({ truncated: true })
    const smaller = await workspace.exec(long, { maxOutputBytes: 4 })
    expect(smaller.stdout.length).toBeLessThan((await workspace.exec(long)).stdout.length)
    const background = await workspace.start(long, { maxOutputBytes: 1000 })
    await background.wait()
    expect(background.output().stdout.text).toBe('abcdefghij')
  })

  it('hold where a command names its own shell', async () => {
    const { executors, requests } = recorder()
    const { workspace } = await openMemory({ '/': {} }, { executors, commands: { login: false } })
    await workspace.exec(['bash', '-lc', 'true'])
    expect(requests[0]?.login).toBe(false)
  })

  it('are a copy', async () => {
    const commands = { timeout: 700, env: { A: '1' } }
    const { executors, requests } = recorder()
    const { workspace } = await openMemory({ '/': {} }, { executors, commands })
    commands.timeout = 5
    commands.env.A = '2'
    await workspace.exec('true')
    expect(requests[0]).toMatchObject({ timeout: 700, env: { A: '1' } })
  })

  it.each<[string, unknown, string]>([
    ['a list', [], '`commands` must be an object'],
    ['an unknown name', { timeoutMs: 5 }, '`commands.timeoutMs` is not an option; did you mean `commands.timeout`?'],
    ['a text', { timeout: '5s' }, '`commands.timeout` must be'],
    ['zero', { timeout: 0 }, '`commands.timeout` must be'],
    ['what no timer can hold', { timeout: 2 ** 31 }, '`commands.timeout` must be'],
    ['a negative size', { maxOutputBytes: -1 }, '`commands.maxOutputBytes` must be'],
    ['a variable that is a number', { env: { A: 1 } }, '`commands.env.A` must be a string'],
    ['a name that cannot be a variable', { env: { 'A-B': '1' } }, '`commands.env`'],
    ['an author with a line end', { gitIdentity: { name: 'a\nb', email: 'x' } }, '`commands.gitIdentity.name` must be'],
    ['an author without an address', { gitIdentity: { name: 'a' } }, '`commands.gitIdentity.email`'],
    ['a login that is a text', { login: 'no' }, '`commands.login` must be'],
  ])('refuse %s', async (_, commands, reason) => {
    const opening = openMemory({ '/': {} }, { commands } as Partial<WorkspaceOptions>)
    await expect(opening).rejects.toMatchObject({ code: 'EINVAL', message: expect.stringContaining(reason) })
  })
})

for (const door of doors.filter(({ root }) => root === '/workspace')) {
  describeWith(door.components.map(component), `defaults for commands: ${door.name}`, { tags: [...door.tags] }, () => {
    it('end commands and sessions, and set variables', async () => {
      const open = (commands: CommandDefaults) =>
        openSite({ root: door.root, executor: door.create(), commands: { login: false, ...commands } })
      await using greeting = await open({ env: { GREETING: 'hello' } })
      expect(await greeting.workspace.exec('printf %s "$GREETING"')).toMatchObject({ stdout: 'hello' })
      const greeted = await greeting.workspace.openSession({ command: 'echo "$GREETING"' })
      await greeted.wait()
      expect(greeted.read().text).toContain('hello')
      // a loaded machine may need all of it for the start
      await using limited = await open({ timeout: 400 })
      expect(await limited.workspace.exec('sleep 60', { timeout: 50_000 })).toMatchObject({ timedOut: true })
      const session = await limited.workspace.openSession({ command: 'sleep 60' })
      expect((await session.wait()).endedBy).toBe('timeout')
    })
  })
}
