import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

import { createScratchDirectory, until } from '@ws/test-fixtures'
import { describe, expect, it, onTestFinished } from 'vitest'

import { createProject, end, site, startMain, startWs, ws } from './ws.ts'

interface Answer {
  readonly id?: number
  readonly result?: {
    readonly tools?: readonly { readonly name: string }[]
    readonly content?: readonly { readonly text: string }[]
  }
}

/** A client of `ws` in this process, or in one of its own. */
function connect(args: readonly string[], { isProcess = false, env = {} as NodeJS.ProcessEnv } = {}) {
  const child = isProcess ? startProcess(args) : startMain(args, { env })
  const { stdin, stdout, ended } = child
  onTestFinished(async () => {
    stdin.end()
    await ended
  })
  const answers: Answer[] = []
  createInterface(stdout).on('line', (line) => answers.push(JSON.parse(line) as Answer))
  let count = 0
  const ask = async (method: string, params: object): Promise<Answer['result']> => {
    count += 1
    const id = count
    stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    const found = (): Answer | undefined => answers.find((answer) => answer.id === id)
    await Promise.race([ended, until(() => found() !== undefined)])
    return found()?.result
  }
  const hello = () =>
    ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } })
  return { stdin, ended, ask, hello }
}

function startProcess(args: readonly string[]) {
  const child = startWs(args)
  const { stdin, stdout } = child
  if (stdin === null || stdout === null) throw new Error('it has no streams')
  return { stdin, stdout, ended: end(child) }
}

describe('ws mcp', () => {
  it('[EF5] runs no changing call with --approve, where the client cannot ask its user', async () => {
    await using project = await createProject({ 'a.txt': 'one\n' })
    await using state = await createScratchDirectory({ owner: project.owner })
    const { ask, hello } = connect(['--root', project.path, 'mcp', '--approve', '--state', join(state.path, 'saved')])
    await hello()
    const call = { name: 'write', arguments: { path: '/workspace/b.txt', content: 'b' } }
    expect((await ask('tools/call', call))?.content?.[0]?.text).toContain('this client cannot ask')
    const read = await ask('tools/call', { name: 'read', arguments: { path: '/workspace/a.txt' } })
    expect(read?.content?.[0]?.text).toContain('one')
    expect(existsSync(join(project.path, 'b.txt'))).toBe(false)
  })

  it('serves files over standard input and output until the client closes them, without commands', async () => {
    await using project = await createProject({ 'a.txt': 'one\n' })
    const { stdin, ended, ask, hello } = connect(['--root', project.path, 'mcp'], { isProcess: true })
    await hello()
    const names = (await ask('tools/list', {}))?.tools?.map(({ name }) => name)
    expect(names).toContain('read')
    expect(names).not.toContain('execute')
    const read = await ask('tools/call', { name: 'read', arguments: { path: '/workspace/a.txt' } })
    expect(read?.content?.[0]?.text).toContain('one')
    stdin.end()
    expect(await ended).toMatchObject({ code: 0, stderr: '' })
  })

  it.each([
    ['no network', [], false],
    ['a list of hosts', ['--allow-host', 'a.test'], true],
    ['a list of hosts, and downloads switched off', ['--allow-host', 'a.test', '--no-downloads'], false],
  ] as const)('[RU14] with %s, the tool that downloads is offered, or is not', async (_, given, isOffered) => {
    await using project = await createProject({})
    const options = given.filter((word) => word !== '--no-downloads')
    const off = given.filter((word) => word === '--no-downloads')
    const { stdin, ended, ask, hello } = connect(['--root', project.path, ...options, 'mcp', ...off])
    await hello()
    const names = (await ask('tools/list', {}))?.tools?.map(({ name }) => name)
    expect(names?.includes('download')).toBe(isOffered)
    if (isOffered) {
      const answer = await ask('tools/call', {
        name: 'download',
        arguments: { url: 'http://evil.test/?d', path: '/x' },
      })
      expect(answer?.content?.[0]?.text).toMatch(/`evil\.test` is not in the list of hosts.*Ask the operator/isu)
    }
    stdin.end()
    expect(await ended).toMatchObject({ code: 0 })
  })

  it('[LS13] keeps the shell between commands with `--shell session`', async () => {
    await using project = await createProject({ 'd/a.txt': 'one\n' })
    const at = ['--root', project.path, '--executor', 'virtual', '--require', 'fileContent=interpreter']
    const { ask, hello } = connect([...at, 'mcp', '--face', 'claude-code', '--shell', 'session'])
    await hello()
    await ask('tools/call', { name: 'Bash', arguments: { command: 'cd d; x=2' } })
    const ran = await ask('tools/call', { name: 'Bash', arguments: { command: 'cat a.txt; echo $x' } })
    expect(ran?.content?.[0]?.text).toContain('one\n2')
  })

  it('offers commands with a requirement that the executor meets, and fails with one that it does not', async () => {
    await using project = await createProject({ 'a.txt': 'one\n' })
    const at = ['--root', project.path, '--executor', 'virtual', '--require']
    const { stdin, ended, ask, hello } = connect([...at, 'fileContent=interpreter', 'mcp', '--face', 'claude-code'])
    await hello()
    const ran = await ask('tools/call', { name: 'Bash', arguments: { command: 'cat a.txt' } })
    expect(ran?.content?.[0]?.text).toContain('one')
    stdin.end()
    expect(await ended).toMatchObject({ code: 0, stderr: '' })
    const strict = ['--root', project.path, '--executor', 'sanitize', '--require', 'untrusted', 'mcp']
    const refused = await ws(strict)
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toMatch(/^ws: .*sanitize/u)
  })

  it.each([
    [[], false],
    [['--no-protect'], true],
  ])('[RU10] denies secrets and keeps hooks as they are: %j', async (more, open) => {
    await using project = await createProject({ '.env': 'S=1' })
    const { stdin, ended, ask, hello } = connect(['--root', project.path, 'mcp', ...more])
    await hello()
    const read = await ask('tools/call', { name: 'read', arguments: { path: '/workspace/.env' } })
    expect(read?.content?.[0]?.text.includes('S=1')).toBe(open)
    const hook = { path: '/workspace/.vscode/tasks.json', content: '{}' }
    const written = await ask('tools/call', { name: 'write', arguments: hook })
    expect(written?.content?.[0]?.text.startsWith('Error')).toBe(!open)
    stdin.end()
    expect((await ended).code).toBe(0)
  })

  const page = readFileSync(new URL('../../../docs/frameworks/mcp.md', import.meta.url), 'utf8')
  const listed = [...page.matchAll(/"?args"?\s*[:=]\s*(\[[^\]]*\])|^claude mcp add workspace -- WS (.+)$/gmu)]
  const configurations = listed.map(([, json = '', words]) => words?.split(' ') ?? (JSON.parse(json) as string[]))

  it('[RU10] its page has configurations for four clients', () => {
    expect(configurations).toHaveLength(4)
  })

  it.each(configurations.map((args) => [args]))(
    '[RU10] each configuration on its page holds rules: %j',
    async (args) => {
      const rules = [{ rule: 'deny', path: 'private' }]
      const config = JSON.stringify({ mounts: [{ at: '/', root: '.' }], rules })
      await using project = await site({ '.env': 'S=1', 'private/a': 'S=1', 'ws.config.json': config })
      await project.ws(['trust'])
      const { stdin, ended, ask, hello } = connect(
        args.map((word) => (word === 'DIR' ? project.path : word)),
        { env: project.env },
      )
      await hello()
      for (const path of ['/.env', '/private/a']) {
        const read = await ask('tools/call', { name: 'read', arguments: { path } })
        expect(read?.content?.[0]?.text).toMatch(/^Error/u)
        expect(read?.content?.[0]?.text).not.toContain('S=1')
      }
      stdin.end()
      expect((await ended).code).toBe(0)
    },
  )

  it('serves HTTP on the loopback, with a token from the environment only', async () => {
    await using project = await createProject({ 'a.txt': 'one\n' })
    const running = startMain(['--root', project.path, 'mcp', '--http', '0'], { env: { WS_MCP_TOKEN: 'right' } })
    const { ended } = running
    onTestFinished(() => running.kill('SIGTERM'))
    let shown = ''
    running.stderr.on('data', (text: Buffer) => (shown += text.toString()))
    const url = (): string | undefined => /http:\S+/u.exec(shown)?.[0]
    await Promise.race([ended, until(() => url() !== undefined)])
    const ask = async (token: string): Promise<Response> =>
      fetch(url() ?? '', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          authorization: `Bearer ${token}`,
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
      })
    expect((await ask('wrong')).status).toBe(401)
    expect(await (await ask('right')).text()).toContain('"name":"read"')
    running.kill('SIGTERM')
    expect(await ended).toMatchObject({ code: 143, stdout: '' })
    const empty = await ws(['--root', project.path, 'mcp', '--http', '0'], { env: { WS_MCP_TOKEN: '' } })
    expect(empty).toMatchObject({ code: 2, stderr: expect.stringContaining('WS_MCP_TOKEN is empty') as string })
  })
})
