import { createMemoryAdapter } from '@ws/adapter-memory'
import { type AccessEvent, createWorkspace, rules, type Rule, type VirtualPath } from '@ws/core'
import { granting } from '@ws/core/executor'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { createCheckpoints } from '@ws/snapshots'
import { createTools, type Approval, type ApprovalRequest, type ToolsOptions } from '@ws/tools'
import { describe, expect, it } from 'vitest'

const files = { '/a.txt': 'a\n', '/keys/one.pem': 'k1\n', '/keys/two.pem': 'k2\n', '/private/x': 'px\n' }

async function open(
  rule: Rule | readonly Rule[],
  decisions: readonly (Approval | ((request: ApprovalRequest) => Approval))[],
  options: ToolsOptions = {},
) {
  const workspace = await createWorkspace({
    mounts: [{ at: '/workspace', adapter: () => createMemoryAdapter({ files }) }],
    executors: [createVirtualExecutor({ network: { allow: ['*.web.test', 'other.org'] } })],
    checkpoints: createCheckpoints(),
    rules: [rule].flat(),
  })
  const left = [...decisions]
  const requests: ApprovalRequest[] = []
  const approve = (request: ApprovalRequest): Approval => {
    requests.push(request)
    const next = left.shift() ?? { decision: 'drop' }
    return typeof next === 'function' ? next(request) : next
  }
  const tools = createTools(workspace, { face: 'split', downloads: false, approve, ...options })
  const close = async () => {
    await tools.close()
    await workspace.close()
  }
  return { workspace, tools, requests, [Symbol.asyncDispose]: close }
}

const grant: Approval = { decision: 'keep', grant: true }
const keep: Approval = { decision: 'keep' }
const drop: Approval = { decision: 'drop' }
const pem = rules.ask('*.pem')

describe('[EF6] a rule that asks', () => {
  it('denies at both doors without anybody to ask, and says that a person can allow it', async () => {
    await using at = await open(pem, [], { approve: undefined })
    const refused = { code: 'EACCES', rule: 'ask(*.pem)', remedy: 'ask the user to allow it, or go on without it' }
    await expect(at.workspace.readText('keys/one.pem')).rejects.toMatchObject(refused)
    await expect(at.workspace.write('new.pem', 'x')).rejects.toMatchObject(refused)
    const { exitCode, hints } = await at.workspace.exec('cat keys/one.pem')
    expect(exitCode).toBe(1)
    expect(hints).toMatchObject([{ rule: 'ask(*.pem)', path: '/workspace/keys/one.pem', remedy: refused.remedy }])
    expect(await at.workspace.explain({ operation: 'read', path: 'keys/one.pem' })).toMatchObject({
      effect: 'deny',
      ...refused,
      reason: 'needs the consent of a person',
    })
    const answer = await at.tools.run('write', { path: 'keys/one.pem', content: 'x' })
    expect(answer.text).toContain('needs the consent of a person (rule `ask(*.pem)`). Ask the user to allow it')
    expect(at.requests).toEqual([])
  })

  it('leaves reading where it says so', async () => {
    await using at = await open(rules.ask('./keys', { access: 'read-only', name: 'keys' }), [grant, keep])
    expect(await at.workspace.readText('keys/one.pem')).toBe('k1\n')
    await expect(at.workspace.write('keys/one.pem', 'x')).rejects.toMatchObject({ rule: 'keys' })
    expect((await at.tools.run('execute', { command: 'echo new > keys/one.pem' })).isError).toBe(false)
    expect(at.requests.map(({ asked }) => asked)).toEqual([[{ rule: 'keys', path: '/workspace/keys' }], []])
    expect(await at.workspace.readText('keys/one.pem')).toBe('new\n')
  })

  it.each(['execute', 'write'])('runs a call of %s again with a grant, and asks about its changes', async (tool) => {
    await using at = await open(pem, [grant, keep])
    const input =
      tool === 'write'
        ? { path: 'keys/one.pem', content: 'new\n' }
        : { command: 'echo new > keys/one.pem; echo two > two.txt; cat keys/two.pem' }
    const answer = await at.tools.run(tool, input)
    expect(at.requests[0]?.asked[0]).toEqual({ rule: 'ask(*.pem)', path: '/workspace/keys/one.pem' })
    const changed = at.requests.at(-1)?.changes.map(({ path }) => path)
    expect(changed).toContain('/workspace/keys/one.pem')
    expect(answer.isError).toBe(false)
    await expect(at.workspace.readText('keys/one.pem')).rejects.toMatchObject({ code: 'EACCES' })
    expect(at.tools.journal()).toHaveLength(1)
  })

  it('lets a grant cover the granted path alone, and one call alone', async () => {
    const show: ApprovalRequest['asked'][number][][] = []
    const one = (request: ApprovalRequest): Approval => {
      show.push([...request.asked])
      return request.asked.some(({ path }) => path?.endsWith('one.pem')) ? grant : keep
    }
    await using at = await open(pem, [one, one, one, one])
    const command = 'cat keys/one.pem && cat keys/two.pem'
    const { text } = await at.tools.run('execute', { command })
    expect(show).toEqual([
      [{ rule: 'ask(*.pem)', path: '/workspace/keys/one.pem' }],
      [{ rule: 'ask(*.pem)', path: '/workspace/keys/two.pem' }],
    ])
    expect(text).toContain('k1')
    expect(text).not.toContain('k2')
    await at.tools.run('execute', { command: 'cat keys/one.pem' })
    expect(show[2]).toEqual([{ rule: 'ask(*.pem)', path: '/workspace/keys/one.pem' }])
  })

  it('grants a directory with all below it', async () => {
    await using at = await open(rules.ask(['private', '*.pem'], { name: 'mine' }), [grant, keep])
    const { text } = await at.tools.run('execute', { command: 'cat private/x; echo x > private/b.pem' })
    expect(at.requests[0]?.asked).toEqual([{ rule: 'mine', path: '/workspace/private' }])
    expect(text).toContain('px')
    expect(at.requests[1]?.asked).toEqual([{ rule: 'mine', path: '/workspace/private/b.pem' }])
  })

  it('drops a call that is not granted, and one whose grant is not a decision', async () => {
    await using at = await open(pem, [drop, { ...drop, grant: true }, { ...keep, message: 'never' }])
    const command = 'echo x > a.txt; cat keys/one.pem'
    const first = await at.tools.run('execute', { command })
    expect(first.text).toContain('A person looked at the changes of this call, and took them back')
    const none = await at.tools.run('execute', { command: 'cat keys/one.pem' })
    expect(none.text).toContain('because the approval gave an answer that is not a decision')
    expect(await at.workspace.readText('a.txt')).toBe('a\n')
    const kept = await at.tools.run('write', { path: 'keys/one.pem', content: 'x' })
    expect(kept).toMatchObject({ isError: true, data: { code: 'EACCES', rule: 'ask(*.pem)' } })
    expect(kept.text).toContain('The person says: never')
  })

  it('leaves nothing of a granted call that is dropped', async () => {
    await using at = await open(pem, [grant, drop])
    await at.tools.run('execute', { command: 'echo x > keys/one.pem; rm keys/two.pem; echo n > keys/new.pem' })
    expect(at.requests[1]?.changes.map(({ kind, path }) => `${kind} ${path}`)).toEqual([
      'created /workspace/keys/new.pem',
      'changed /workspace/keys/one.pem',
      'deleted /workspace/keys/two.pem',
    ])
    expect(at.tools.journal()).toEqual([])
    const left = granting(at.workspace, [{ rule: 'ask(*.pem)', path: '/workspace/keys/one.pem' as VirtualPath }])
    expect(await left.readText('keys/one.pem')).toBe('k1\n')
    await expect(left.readText('keys/two.pem')).rejects.toMatchObject({ code: 'EACCES' })
    expect((await Array.fromAsync(at.workspace.list('keys'))).map(({ name }) => name).sort()).toEqual([
      'one.pem',
      'two.pem',
    ])
  })

  it('lets a grant be of its own rule alone, and names it in the audit', async () => {
    await using at = await open([pem, rules.ask('one.*', { name: 'one' })], [])
    const path = '/workspace/keys/one.pem' as VirtualPath
    const places = [{ rule: 'one', path }]
    const events: AccessEvent[] = []
    at.workspace.on('access', (event) => events.push(event))
    await expect(granting(at.workspace, places).readText(path)).rejects.toMatchObject({ rule: 'ask(*.pem)' })
    expect(await granting(at.workspace, [...places, { rule: 'ask(*.pem)', path }]).readText(path)).toBe('k1\n')
    expect(events.map(({ outcome, granted }) => [outcome, granted?.length])).toEqual([
      ['denied', 1],
      ['allowed', 2],
    ])
  })

  it('takes back what it left to read, where a grant was lost with its process', async () => {
    await using at = await open(rules.ask('*.pem', { access: 'read-only' }), [])
    const places = [{ rule: 'ask(*.pem)', path: '/workspace/keys/one.pem' as VirtualPath }]
    const attempt = await at.workspace.try((view) => granting(view, places).write('keys/one.pem', 'x'))
    expect((await attempt.drop()).kept).toEqual([])
    expect(await at.workspace.readText('keys/one.pem')).toBe('k1\n')
  })

  it('gives no grant to a rule that does not ask', async () => {
    await using at = await open([rules.denyGlob('*.pem'), rules.ask('private')], [grant])
    const { isError, text } = await at.tools.run('write', { path: 'keys/one.pem', content: 'x' })
    expect(isError).toBe(true)
    expect(text).toContain('denyGlob(*.pem)')
    expect(at.requests).toEqual([])
  })

  it('is refused in one sentence where it means nothing', () => {
    expect(() => rules.ask('')).toThrow('the globs must be a non-empty string, or a list of such strings; pass a glob')
    expect(() => rules.ask([])).toThrow('a pattern rule needs at least one pattern')
    expect(() => rules.ask('[')).toThrow(/EINVAL/u)
    expect(() => rules.ask('x', { access: 'read-write' as never })).toThrow('`access` must be `none` or `read-only`')
    expect(() => rules.askHosts(['http://x'])).toThrow(/EINVAL/u)
    expect(() => rules.askHosts(['x.test'], { access: 'none' } as never)).toThrow(/`access` is not an option/u)
  })
})

describe('[EF6] hosts that a rule asks about', () => {
  const hosts = rules.askHosts(['*.web.test', 'other.org:443'])

  it('are denied without a grant, also where each host is open to downloads', async () => {
    await using at = await open(hosts, [], { approve: undefined })
    const denied = {
      effect: 'deny',
      rule: 'askHosts',
      reason: 'needs the consent of a person',
      remedy: 'ask the user to allow it, or go on without it',
    }
    const connect = (host: string, port?: number, of?: 'public') =>
      at.workspace.explain({ operation: 'connect', host, port, hosts: of })
    expect(await connect('a.web.test')).toMatchObject(denied)
    expect(await connect('A.WEB.TEST.')).toMatchObject(denied)
    expect(await connect('other.org')).toMatchObject(denied)
    expect(await connect('other.org', 80)).toMatchObject({ effect: 'allow' })
    expect(await connect('a.web.test', 443, 'public')).toMatchObject(denied)
    expect(await connect('else.org', 443, 'public')).toMatchObject({ effect: 'allow' })
    expect(await connect('93.184.216.34', 443, 'public')).toMatchObject({ effect: 'deny', rule: 'askHosts' })
    expect(at.workspace.connections({ hosts: ['a.web.test'] }).judge('a.web.test', 443)).toMatchObject(denied)
    const { violations } = await at.workspace.exec('curl -s https://a.web.test/')
    expect(violations).toMatchObject([{ kind: 'refused', host: 'a.web.test', rule: 'askHosts' }])
  })

  it('are asked about after a command, and open to the granted host in the granted call alone', async () => {
    await using at = await open(hosts, [grant, keep, keep])
    await at.tools.run('execute', { command: 'curl -s https://a.web.test/ || curl -s https://b.web.test/' })
    const [first, second] = at.requests
    expect(first?.asked).toEqual([
      { rule: 'askHosts', host: 'a.web.test', port: 443 },
      { rule: 'askHosts', host: 'b.web.test', port: 443 },
    ])
    expect(second?.asked ?? []).toEqual([])
    await at.tools.run('execute', { command: 'curl -s https://a.web.test/' })
    expect(at.requests.at(-1)?.asked).toEqual([{ rule: 'askHosts', host: 'a.web.test', port: 443 }])
  })

  it('are asked about by a download', async () => {
    const opened: string[] = []
    const downloader = {
      async open(url: string) {
        opened.push(url)
        const content = async function* () {
          yield new TextEncoder().encode('body')
        }
        return { url, stream: content(), contentType: 'text/plain', size: 4 }
      },
      close: async () => undefined,
    }
    await using at = await open(hosts, [drop, grant, keep], { downloads: { downloader: downloader as never } })
    const call = { url: 'https://a.web.test/x', path: 'x' }
    expect((await at.tools.run('download', call)).text).toContain('A person was asked, and did not allow this call')
    expect(opened).toEqual([])
    expect((await at.tools.run('download', call)).isError).toBe(false)
    expect(at.requests.map(({ asked }) => asked.length)).toEqual([1, 1, 0])
    expect(await at.workspace.readText('x')).toBe('body')
  })
})
