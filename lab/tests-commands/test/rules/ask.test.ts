/** @module-tag all */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace, rules, type Rule } from '@ws/core'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createCheckpoints } from '@ws/snapshots'
import { component, createScratchDirectory, describeWith, ordinaryOwner, put } from '@ws/test-fixtures'
import { createTools, type Approval, type ApprovalRequest } from '@ws/tools'
import { expect, it } from 'vitest'

const files = { 'a.txt': 'a\n', 'keys/one.pem': 'k1\n', 'keys/two.pem': 'k2\n' }

async function open(rule: Rule, decide: (request: ApprovalRequest) => Approval) {
  const scratch = await createScratchDirectory({ prefix: 'ws-ask-', owner: ordinaryOwner() })
  for (const [path, content] of Object.entries(files))
    await put(join(scratch.path, 'project', path), content, scratch.path)
  const workspace = await createWorkspace({
    mounts: [
      {
        at: '/workspace',
        adapter: () => createLocalAdapter({ root: join(scratch.path, 'project'), owner: ordinaryOwner() }),
      },
    ],
    executors: [createBubblewrapExecutor({ network: { allow: ['a.web.test', 'b.web.test'] } })],
    checkpoints: createCheckpoints({ stateDirectory: join(scratch.path, 'state') }),
    rules: [rule],
  })
  const requests: ApprovalRequest[] = []
  const approve = (request: ApprovalRequest): Approval => {
    requests.push(request)
    return decide(request)
  }
  const tools = createTools(workspace, { face: 'split', downloads: false, approve })
  const run = async (command: string) => (await tools.run('execute', { command })).text
  const on = (path: string) => readFile(join(scratch.path, 'project', path), 'utf8')
  const close = async () => {
    await tools.close()
    await workspace.close()
    await scratch.remove()
  }
  return { workspace, requests, run, on, [Symbol.asyncDispose]: close }
}

const oneAlone = ({ asked }: ApprovalRequest): Approval => ({
  decision: 'keep',
  grant: asked.length > 0 && asked.every(({ path, host }) => path?.endsWith('one.pem') ?? host === 'a.web.test'),
})

describeWith([component('bubblewrap')], 'rules that ask, in bubblewrap', () => {
  it('[EF6] cover their matches in commands without a grant, and in each later command', async () => {
    await using at = await open(rules.ask('*.pem'), () => ({ decision: 'keep' }))
    expect(await at.run('cat keys/one.pem; echo x > keys/one.pem; ls keys')).not.toContain('k1')
    expect(at.requests.map(({ asked }) => asked)).toEqual([[{ rule: 'ask(*.pem)', path: '/workspace/keys/one.pem' }]])
    expect((await at.workspace.exec('cat keys/*.pem')).stdout).toBe('')
    expect(await at.on('keys/one.pem')).toBe('k1\n')
  })

  it('[EF6] open the granted match, and no other, to the command that asked', async () => {
    await using at = await open(rules.ask('*.pem'), oneAlone)
    const text = await at.run('cat keys/one.pem && echo new > keys/one.pem && (cat keys/two.pem || rm keys/two.pem)')
    expect(text).toContain('k1')
    expect(text).not.toContain('k2')
    expect(at.requests.map(({ changes }) => changes.map(({ path }) => path))).toEqual([[], ['/workspace/keys/one.pem']])
    expect(await at.on('keys/one.pem')).toBe('new\n')
    expect(await at.on('keys/two.pem')).toBe('k2\n')
    expect((await at.workspace.exec('cat keys/*.pem')).stdout).toBe('')
  })

  it('[EF6] ask about a name that a command made, and take it back with the call', async () => {
    for (const access of ['none', 'read-only'] as const) {
      await using at = await open(rules.ask('*.pem', { access }), () => ({ decision: 'drop' }))
      expect(await at.run('echo x > new.pem')).toContain('The files are as before the call, except in `/tmp`')
      expect(at.requests[0]?.asked).toEqual([{ rule: 'ask(*.pem)', path: '/workspace/new.pem' }])
      await expect(at.on('new.pem')).rejects.toThrow('ENOENT')
    }
  })

  it('[EF5] ask about a name that another rule hides from then on, and take it back with the call', async () => {
    await using at = await open(rules.denyGlob('*.pem'), () => ({ decision: 'drop' }))
    expect(await at.run('echo x > new.pem')).toContain('The files are as before the call, except in `/tmp`')
    expect(at.requests[0]).toMatchObject({ asked: [], changes: [{ kind: 'created', path: '/workspace/new.pem' }] })
    await expect(at.on('new.pem')).rejects.toThrow('ENOENT')
  })

  it('[EF6] open a granted host to the command that asked, and close it to others that run beside it', async () => {
    await using at = await open(rules.askHosts(['*.web.test']), oneAlone)
    const get = (host: string) => `curl -sS -m 5 http://${host}/ 2>&1`
    await at.run(`${get('a.web.test')}; true`)
    expect(at.requests[0]?.asked).toMatchObject([{ rule: 'askHosts', host: 'a.web.test' }])
    expect(at.requests[1]?.asked ?? []).toEqual([])
    const { violations } = await at.workspace.exec(`${get('a.web.test')}; ${get('b.web.test')}; true`)
    expect(violations?.map((one) => one.kind === 'refused' && one.host)).toEqual(['a.web.test', 'b.web.test'])
    expect(violations).toMatchObject([{ rule: 'askHosts' }, { rule: 'askHosts' }])
  })
})
