import { setTimeout as sleep } from 'node:timers/promises'

import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, isWorkspaceError } from '@ws/core'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { createCheckpoints } from '@ws/snapshots'
import { createTools, type Approval, type ApprovalRequest, type ToolsOptions } from '@ws/tools'
import { describe, expect, it } from 'vitest'

type Decide = (request: ApprovalRequest) => unknown

/** Tools whose approval is a script: one decision for each request. */
async function open(decisions: readonly (Decide | unknown)[] = [], options: ToolsOptions = {}) {
  const workspace = await createWorkspace({
    mounts: [{ at: '/', adapter: () => createMemoryAdapter({ files: { '/a.txt': 'one\n', '/b.txt': 'b\n' } }) }],
    executors: [createVirtualExecutor()],
    checkpoints: createCheckpoints(),
  })
  const left = [...decisions]
  const requests: ApprovalRequest[] = []
  const approve = (request: ApprovalRequest) => {
    requests.push(request)
    const next = left.shift()
    return (typeof next === 'function' ? next(request) : next) as Approval
  }
  const tools = createTools(workspace, { face: 'split', downloads: false, approve, ...options })
  const names = async () => (await Array.fromAsync(workspace.list('/'))).map(({ name }) => name).sort()
  const close = async () => {
    await tools.close()
    await workspace.close()
  }
  return { workspace, tools, requests, names, [Symbol.asyncDispose]: close }
}

const command = 'rm b.txt; mkdir made; echo x > made/c.txt; echo two > a.txt; echo done'
const keep = { decision: 'keep' }
const drop = { decision: 'drop' }

describe('[EF5] approval of calls', () => {
  it('shows the changes, the diff and the answer, and keeps all of them', async () => {
    let diff = ''
    const decide = async (request: ApprovalRequest) => {
      diff = await request.diff({ path: 'a.txt' })
      return { ...keep, message: 'well done' }
    }
    await using at = await open([decide])
    const answer = await at.tools.run('execute', { command })
    expect(answer.text).toMatch(/^Exit code 0\.\ndone\n\[note: The person says: well done\]$/u)
    const [request] = at.requests
    expect(request).toMatchObject({ tool: 'execute', input: { command }, call: 1, asked: [], connections: [] })
    expect(request?.changes.map(({ kind, path }) => `${kind} ${path}`)).toEqual([
      'changed /a.txt',
      'deleted /b.txt',
      'created /made',
      'created /made/c.txt',
    ])
    expect(request?.answer.text).toBe('Exit code 0.\ndone')
    expect(diff).toContain('-one\n+two')
    expect(await at.names()).toEqual(['a.txt', 'made'])
    expect(at.tools.journal()).toMatchObject([{ call: 1, change: 'executed', command }])
  })

  it('takes back a call, and tells the model', async () => {
    await using at = await open([{ ...drop, message: 'not b.txt' }, drop, drop])
    const { isError, text, data } = await at.tools.run('execute', { command })
    expect(isError).toBe(true)
    expect(text).toBe(
      'Error: A person looked at the changes of this call, and took them back. The files are as before the call, except in `/tmp`; ' +
        'do it another way, or ask the user.\nThe person says: not b.txt\nNext: list {"path":"."}',
    )
    expect(data).toMatchObject({ code: 'EACCES', approval: 'dropped' })
    await at.tools.run('write', { path: '/new.txt', content: 'n' })
    await at.tools.run('delete', { path: '/a.txt' })
    expect(at.requests).toHaveLength(3)
    expect(await at.names()).toEqual(['a.txt', 'b.txt'])
    expect(await at.workspace.readText('/a.txt')).toBe('one\n')
    expect(at.tools.journal()).toEqual([])
  })

  it('keeps some paths, takes back the others, and says which', async () => {
    await using at = await open([{ ...keep, paths: ['made'], message: 'leave a.txt' }])
    const { isError, text, next } = await at.tools.run('execute', { command })
    expect(isError).toBe(false)
    expect(next).toBeUndefined()
    expect(text).toBe(
      'Exit code 0.\ndone\n[note: A person kept a part of these changes, and took back the others.\nThe person says: leave a.txt\n' +
        'kept:\ncreated /made\ncreated /made/c.txt\ntaken back:\nchanged /a.txt (content)\ndeleted /b.txt]',
    )
    expect(await at.names()).toEqual(['a.txt', 'b.txt', 'made'])
    expect(await at.workspace.readText('/a.txt')).toBe('one\n')
  })

  it('journals the kept files alone', async () => {
    await using at = await open([{ ...keep, paths: ['x.txt'] }], { face: 'openai' })
    const patch = '*** Begin Patch\n*** Add File: x.txt\n+x\n*** Add File: y.txt\n+y\n*** End Patch'
    const answer = await at.tools.run('apply_patch', { input: patch })
    expect(answer.text).toContain('taken back:\ncreated /y.txt')
    expect(at.tools.journal()).toMatchObject([{ change: 'created', path: '/x.txt' }])
  })

  it('asks about nothing that changes no file', async () => {
    await using at = await open([], { face: 'file_system' })
    await at.tools.run('file_system', { operation: 'read', path: '/a.txt' })
    expect(await at.workspace.checkpoints()).toEqual([])
    await at.tools.run('execute', { command: 'cat a.txt' })
    const failed = await at.tools.run('file_system', { operation: 'write', path: '/a.txt/x', content: '' })
    expect(failed).toMatchObject({ isError: true, data: { code: 'ENOTDIR' } })
    expect(at.requests).toEqual([])
  })

  it.each<readonly [string, Decide | unknown, string]>([
    ['throws', () => Promise.reject(new Error('/host/secret')), 'the approval failed'],
    ['gives no decision', undefined, 'the approval gave an answer that is not a decision'],
    ['gives another word', { decision: 'yes' }, 'the approval gave an answer that is not a decision'],
    ['keeps paths of another type', { ...keep, paths: 'a.txt' }, 'the approval gave an answer that is not a decision'],
    ['keeps an empty path', { ...keep, paths: ['a.txt', ''] }, 'the approval gave an answer that is not a decision'],
    ['drops some paths', { ...drop, paths: ['a.txt'] }, 'the approval gave an answer that is not a decision'],
    ['keeps a path without a change', { ...keep, paths: ['a.txt', 'else'] }, 'a path that the call did not change'],
    ['keeps a path outside', { ...keep, paths: ['../../x'] }, 'a path that the call did not change'],
  ])('takes a call back where the approval %s', async (_, decision, reason) => {
    await using at = await open([decision])
    const { isError, text, data } = await at.tools.run('execute', { command })
    expect(isError).toBe(true)
    expect(text).toContain(reason)
    expect(text).toContain('Error: The effects of this call were taken back, because ')
    expect(text).not.toContain('secret')
    expect(data).toMatchObject({ approval: 'failed' })
    expect(await at.names()).toEqual(['a.txt', 'b.txt'])
    expect(at.tools.journal()).toEqual([])
  })

  it('takes a call back when nobody decides in time, and when the toolset is closed', async () => {
    const never = ({ signal }: ApprovalRequest) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve(keep)))
    await using at = await open([never, never], { decideWithin: 20 })
    const late = await at.tools.run('execute', { command })
    expect(late.text).toContain('because no decision came within 20 ms')
    expect(await at.names()).toEqual(['a.txt', 'b.txt'])

    const asked = Promise.withResolvers<void>()
    const silent = () => {
      asked.resolve()
      return new Promise(() => undefined)
    }
    await using other = await open([silent])
    const running = other.tools.run('execute', { command })
    await asked.promise
    await other.tools.close()
    expect(await other.names()).toEqual(['a.txt', 'b.txt'])
    expect((await running).text).toContain('because the tools were closed')
  })

  it('takes an aborted call back', async () => {
    const abort = new AbortController()
    const decide = () => {
      abort.abort(new Error('stop'))
      return keep
    }
    await using at = await open([decide, keep])
    await expect(at.tools.run('execute', { command }, { signal: abort.signal })).rejects.toThrow('stop')
    expect(await at.names()).toEqual(['a.txt', 'b.txt'])
    expect(at.tools.journal()).toEqual([])
    expect((await at.tools.run('execute', { command })).isError).toBe(false)
  })

  it('runs calls one after another, while reads wait for no decision', async () => {
    const asked = Promise.withResolvers<void>()
    const decision = Promise.withResolvers<Approval>()
    const decide = () => {
      asked.resolve()
      return decision.promise
    }
    await using at = await open([decide, keep])
    const first = at.tools.run('write', { path: '/a.txt', content: 'two\n' })
    const second = at.tools.run('write', { path: '/c.txt', content: 'c' })
    const before = at.tools.run('read', { path: '/a.txt' })
    await asked.promise
    const after = at.tools.run('read', { path: '/a.txt' })
    expect((await before).text).toContain('two')
    expect((await after).text).toContain('two')
    expect(await at.names()).toEqual(['a.txt', 'b.txt'])
    decision.resolve({ decision: 'drop' })
    expect((await first).isError).toBe(true)
    expect((await second).isError).toBe(false)
    expect(await at.names()).toEqual(['a.txt', 'b.txt', 'c.txt'])
    expect(await at.workspace.readText('/a.txt')).toBe('one\n')
  })

  it('takes back the state of a kept shell', async () => {
    await using at = await open([drop, keep], { shell: 'session' })
    await at.tools.run('execute', { command: 'mkdir d; cd d; V=1' })
    expect((await at.tools.run('execute', { command: 'pwd; echo "<$V>"' })).text).toBe('Exit code 0.\n/\n<>')
    await at.tools.run('execute', { command: 'mkdir d; cd d; V=1' })
    expect((await at.tools.run('execute', { command: 'pwd; echo "<$V>"' })).text).toBe('Exit code 0.\n/d\n<1>')
  })

  it('asks for a new look at a file that was taken back', async () => {
    await using at = await open([drop, keep, keep], { requireReadBeforeWrite: true })
    await at.tools.run('read', { path: '/a.txt' })
    await at.tools.run('write', { path: '/a.txt', content: 'two\n' })
    const blind = await at.tools.run('write', { path: '/a.txt', content: 'three\n' })
    expect(blind.isError).toBe(true)
    await at.tools.run('read', { path: '/a.txt' })
    expect((await at.tools.run('write', { path: '/a.txt', content: 'three\n' })).isError).toBe(false)
  })

  it('runs no command in the background', async () => {
    for (const [face, tool, input] of [
      ['split', 'execute', { command: 'echo x > x', background: true }],
      ['claude-code', 'Bash', { command: 'echo x > x', run_in_background: true }],
    ] as const) {
      await using at = await open([], { face })
      const { isError, text, next } = await at.tools.run(tool, input)
      expect(isError).toBe(true)
      expect(text).toContain('run it in the foreground')
      expect(next).toEqual({ tool, arguments: { command: 'echo x > x' } })
      expect(await at.names()).toEqual(['a.txt', 'b.txt'])
    }
  })

  it('goes with checkpoints and with the names of changes', async () => {
    await using at = await open([keep, drop, keep], { checkpoints: true, changes: true })
    expect((await at.tools.run('execute', { command })).text).toContain('[changed:\nchanged /a.txt')
    await at.tools.run('write', { path: '/d.txt', content: 'd' })
    const [first] = await at.workspace.checkpoints()
    expect((await at.tools.run('restore', { checkpoint: first?.id })).isError).toBe(false)
    expect(at.requests).toHaveLength(3)
    expect(await at.names()).toEqual(['a.txt', 'b.txt'])
  })

  it('needs the checkpoints of the workspace, a function and a time', async () => {
    await using workspace = await createWorkspace({ mounts: [{ at: '/', adapter: () => createMemoryAdapter() }] })
    expect(() => createTools(workspace, { approve: () => ({ decision: 'keep' }) })).toThrow(
      /the workspace keeps no checkpoints.*`checkpoints: createCheckpoints\(\{ stateDirectory \}\)`.*`approve`/u,
    )
    expect(() => createTools(workspace, { approve: true as never })).toThrow('`approve` must be a function')
    expect(() => createTools(workspace, { decideWithin: 0 })).toThrow('`decideWithin` must be an integer from 1')
  })
})

describe('[EF5] a call that is held', () => {
  it('ends by keep, by drop, and by its time', async () => {
    await using at = await open([], { approve: undefined })
    const kept = await at.tools.try('execute', { command })
    expect(kept.result.text).toBe('Exit code 0.\ndone')
    expect(at.tools.journal()).toEqual([])
    await kept.keep(['made'])
    expect(await at.names()).toEqual(['a.txt', 'b.txt', 'made'])
    expect(at.tools.journal()).toHaveLength(1)
    await expect(kept.drop()).rejects.toMatchObject({ code: 'ECLOSED' })

    await using dropped = await at.tools.try('delete', { path: '/made', recursive: true })
    expect(dropped.changes).toHaveLength(2)
    await dropped.drop()
    expect(await at.names()).toContain('made')

    await using late = await open([], { approve: undefined, decideWithin: 20, shell: 'session' })
    const attempt = await late.tools.try('execute', { command: `cd /; V=1; ${command}` })
    expect(attempt.changes).toHaveLength(4)
    while ((await late.names()).includes('made')) await sleep(5)
    expect(late.tools.journal()).toEqual([])
    while ((await late.tools.run('execute', { command: 'echo "<$V>"' })).isError) await sleep(5)
    expect((await late.tools.run('execute', { command: 'echo "<$V>"' })).text).toContain('<>')
    await expect(attempt.keep()).rejects.toMatchObject({ code: 'ECLOSED' })
  })

  it('is the only one, and no other call may change files meanwhile', async () => {
    await using at = await open([], { approve: undefined })
    const [first, second] = await Promise.allSettled([
      at.tools.try('write', { path: '/c.txt', content: 'c' }),
      at.tools.try('write', { path: '/d.txt', content: 'd' }),
    ])
    expect(second).toMatchObject({ status: 'rejected', reason: { code: 'EBUSY' } })
    if (second.status === 'rejected' && isWorkspaceError(second.reason))
      expect(second.reason.reason).toContain('the changes of call 1 (`write`) wait for a decision')
    expect(await at.tools.run('execute', { command: 'ls' })).toMatchObject({ isError: true, data: { code: 'EBUSY' } })
    expect((await at.tools.run('read', { path: '/c.txt' })).isError).toBe(false)
    if (first.status === 'fulfilled') await first.value.drop()
    expect(await at.names()).toEqual(['a.txt', 'b.txt'])
    expect((await at.tools.run('execute', { command: 'ls' })).isError).toBe(false)
  })

  it('is taken back when the toolset is closed', async () => {
    await using at = await open([], { approve: undefined })
    const attempt = await at.tools.try('write', { path: '/c.txt', content: 'c' })
    await at.tools.close()
    expect(await at.names()).toEqual(['a.txt', 'b.txt'])
    await expect(attempt.keep()).rejects.toMatchObject({ code: 'ECLOSED' })
    await at.workspace.write('/d.txt', 'd')
  })

  it('holds errors and unknown tools as answers', async () => {
    await using at = await open([], { approve: undefined })
    await using unknown = await at.tools.try('wriet', {})
    expect(unknown.result).toMatchObject({ isError: true, data: { code: 'ENOENT' } })
    await unknown.keep()
    await using wrong = await at.tools.try('write', { path: '/a.txt' })
    expect(wrong).toMatchObject({ result: { isError: true }, changes: [] })
  })
})
