import { createMemoryAdapter } from '@ws/adapter-memory'
import { createVirtualExecutor } from '@ws/executor-virtual'
import type { Workspace } from '@ws/core'
import { createWorkspace, rules } from '@ws/core'
import { createTools } from '@ws/tools'
import { deep, describeWith, longestTurn } from '@ws/test-fixtures'
import { s3Needs } from '@ws/test-fixtures/s3/vitest'
import { describe, expect, it, onTestFinished } from 'vitest'

import { done, files, refused } from './support/calls.ts'
import { bucketOf, stores, workspaceWith, type Store } from './support/stores.ts'

describe('toolset', () => {
  it('queues parallel calls on one path in the order in which they came', async () => {
    const workspace = await workspaceWith()
    const toolset = createTools(workspace)
    const tools = files(toolset)
    const answers = await Promise.all([
      tools.done('write', { path: '/a.txt', content: '1' }),
      tools.done('replace', { path: '/a.txt', old: '1', new: '2' }),
      tools.done('read', { path: '/a.txt' }),
      tools.done('replace', { path: '/workspace/a.txt', old: '2', new: '3' }),
      tools.done('move', { from: '/a.txt', to: '/b.txt' }),
      tools.done('read', { path: 'b.txt' }),
      tools.done('delete', { path: '/b.txt' }),
    ])
    expect(answers[2]?.text).toContain('\t2\n')
    expect(answers[5]?.text).toContain('\t3\n')
    expect(await workspace.exists('/b.txt')).toBe(false)
  })

  it('offers no command on request, and names none in answers', async () => {
    const workspace = await workspaceWith({ '/a.txt': 'one' }, { executors: [createVirtualExecutor()] })
    const commandTools = { file_system: 'execute', split: 'execute', 'claude-code': 'Bash', anthropic: 'bash' } as const
    for (const [face, command] of Object.entries(commandTools)) {
      const toolset = createTools(workspace, { face: face as keyof typeof commandTools, commands: false })
      const answer = await refused(toolset, command, { command: 'rm a.txt' })
      expect(answer.text).toContain('is not a tool here')
    }
    expect(await workspace.exists('/a.txt')).toBe(true)
    const full = createTools(workspace, { face: 'anthropic', commands: false })
    await refused(full, 'memory', { command: 'create', path: '/memories/../a.txt', file_text: '' })
    expect(() => createTools(workspace, { face: 'openai', commands: false })).toThrow('reads files by commands')
  })

  it('keeps a journal with the versions before and after', async () => {
    const workspace = await workspaceWith({ '/a.txt': 'one' }, { executors: [createVirtualExecutor()] })
    const toolset = createTools(workspace)
    const tools = files(toolset)
    const { version: first } = await workspace.stat('/a.txt')
    await tools.done('read', { path: '/a.txt' })
    await tools.done('replace', { path: '/a.txt', old: 'one', new: 'two' })
    const { version: second } = await workspace.stat('/a.txt')
    await tools.done('write', { path: '/b.txt', content: 'new' })
    await tools.refused('write', { path: '/../b.txt', content: 'new' })
    await tools.done('copy', { from: '/a.txt', to: '/c.txt' })
    await tools.done('delete', { path: '/a.txt' })
    await done(toolset, 'execute', { command: 'true' })
    const { version: third } = await workspace.stat('/b.txt')
    expect(toolset.journal()).toMatchObject([
      { call: 2, tool: 'file_system', change: 'updated', path: '/a.txt', before: first, after: second },
      { call: 3, tool: 'file_system', change: 'created', path: '/b.txt', before: undefined, after: third },
      { call: 5, change: 'copied', path: '/c.txt', from: '/a.txt' },
      { call: 6, change: 'deleted', path: '/a.txt', before: second },
      { call: 7, tool: 'execute', change: 'executed', path: '/', command: 'true' },
    ])
  })

  it('rejects with the reason of an abort, before and while a call waits', async () => {
    const workspace = await workspaceWith({ '/a.txt': 'one' })
    const { promise: gate, resolve: open } = Promise.withResolvers<void>()
    const slow = {
      ...bound(workspace),
      read: async () => (await gate, workspace.read('/a.txt')),
    } as unknown as Workspace
    const toolset = createTools(slow)
    const reason = new Error('stop')
    const read = { operation: 'read', path: '/a.txt' }
    await expect(toolset.run('file_system', read, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    const controller = new AbortController()
    const first = toolset.run('file_system', read)
    const second = toolset.run('file_system', read, { signal: controller.signal })
    controller.abort(reason)
    await expect(second).rejects.toBe(reason)
    open()
    expect((await first).isError).toBe(false)
  })

  it('answers faults of its own without their words', async () => {
    const workspace = await workspaceWith({ '/a.txt': 'one' })
    const broken = {
      ...bound(workspace),
      read: () => Promise.reject(new Error('/host/secret')),
    } as unknown as Workspace
    const answer = await refused(createTools(broken), 'file_system', { operation: 'read', path: '/a.txt' })
    expect(answer.text).not.toContain('secret')
  })

  it('answers a denial with the rule, and without a change', async () => {
    const workspace = await workspaceWith(
      {},
      {
        mounts: [{ at: '/', adapter: () => createMemoryAdapter({ files: { '/a.txt': 'one' } }) }],
        rules: [rules.readOnly('/a.txt')],
      },
    )
    const { refused: no } = files(createTools(workspace))
    const answer = await no('replace', { path: '/a.txt', old: 'one', new: 'two' })
    expect(answer.data).toMatchObject({ code: 'EACCES', path: '/a.txt' })
    expect(answer.text).toContain('(rule `')
    expect(await workspace.readText('/a.txt')).toBe('one')
  })

  it('ends the background commands that it started, and no others', async () => {
    const workspace = await workspaceWith({}, { executors: [createVirtualExecutor()] })
    await using other = await workspace.start('sleep 60')
    const toolset = createTools(workspace)
    const started = await done(toolset, 'execute', { command: 'sleep 60', background: true })
    await refused(toolset, 'execute', { id: other.id })
    await toolset.close()
    const id = started.data?.['id'] as string
    expect(workspace.command(id).running).toBe(false)
    expect(other.running).toBe(true)
  })

  it('refuses invalid options', async () => {
    const workspace = await workspaceWith()
    expect(() => createTools(workspace, { face: 'none' as 'split' })).toThrow('`face` must be one of')
    expect(() => createTools(workspace, { maxContext: 1 })).toThrow('`maxContext` must be a whole number')
    expect(() => createTools(workspace, { checkpoints: true })).toThrow('the workspace keeps no checkpoints')
  })

  it('[FS2] bounds a text by 1.75 characters for each token of the context', async () => {
    const workspace = await workspaceWith({ '/a.txt': `${'x'.repeat(99)}\n`.repeat(1000) })
    const { done: call } = files(createTools(workspace, { maxContext: 1000 }))
    const { text, next } = await call('read', { path: '/a.txt' })
    expect(text.length).toBeLessThan(1750 + 200)
    expect(next?.arguments).toMatchObject({ offset: 16 })
  })

  it('[FS13] keeps a real `workspace`, with a note, where the root is elsewhere', async () => {
    const workspace = await workspaceWith({}, { mounts: [{ at: '/home/agent', adapter: () => createMemoryAdapter() }] })
    await workspace.write('/home/agent/x', 'root')
    const { done: call } = files(createTools(workspace))
    expect((await call('read', { path: '/workspace/x' })).text).toContain('root')
    expect((await call('read', { path: 'workspace/x' })).text).toContain('root')
    expect((await call('read', { path: '/home/agent/x' })).text).toContain('root')
    await workspace.write('/home/agent/workspace/x', 'real')
    const { text } = await call('read', { path: 'workspace/x' })
    expect(text).toContain('real')
    expect(text).toContain('[note: `/home/agent/workspace` is a real entry here')
  })
})

/** The methods of a workspace as plain properties, some of which a test replaces. */
function bound(workspace: Workspace): Partial<Workspace> {
  const names = ['read', 'stat', 'explain', 'write', 'list', 'glob', 'readLines'] as const
  const methods = names.map((name) => [name, (workspace[name] as (...given: unknown[]) => unknown).bind(workspace)])
  return { root: workspace.root, ...(Object.fromEntries(methods) as Partial<Workspace>) }
}

/** Each writer has a toolset on a workspace of its own, and edits its own place of one file. */
function loseNone({ open }: Store, edits: number): void {
  it(`[FS7] lose none of ${edits} edits each, through 8 toolsets`, { tags: 'rounds', timeout: 600_000 }, async () => {
    const adapter = await open()
    const places = Array.from({ length: 8 }, (_, writer) => `writer ${writer}: <${writer}:0>`)
    const workspaces = await Promise.all(
      places.map(() => createWorkspace({ mounts: [{ at: '/', adapter }], scratch: false })),
    )
    onTestFinished(async () => {
      for (const workspace of workspaces) await workspace.close()
    })
    await workspaces[0]?.write('/shared.txt', `${places.join('\n')}\n`)
    await Promise.all(
      workspaces.map(async (workspace, writer) => {
        const toolset = createTools(workspace)
        for (let edit = 0; edit < edits; edit += 1) {
          const change = { old: `<${writer}:${edit}>`, new: `<${writer}:${edit + 1}>` }
          const call = { operation: 'replace', path: '/shared.txt', ...change }
          let answer = await toolset.run('file_system', call)
          // a slow store on a busy machine, where the others win for 5 s: the answer says what to do
          while (answer.text.includes('Nothing was changed here; call again.')) {
            answer = await toolset.run('file_system', call)
          }
          expect(answer.isError, answer.text).toBe(false)
        }
      }),
    )
    const expected = places.map((line, writer) => line.replace(/<.*>/u, `<${writer}:${edits}>`))
    expect(await workspaces[0]?.readText('/shared.txt')).toBe(`${expected.join('\n')}\n`)
  })
}

const editsInBuckets = deep ? 25 : 2
for (const store of stores) {
  // a directory has locks of its own
  const tags = store.name === 'local' ? [] : store.tags
  describe(`8 writers on ${store.name}`, { tags }, () =>
    loseNone(store, store.name === 's3' ? editsInBuckets : deep ? 200 : store.name === 'local' ? 10 : 25),
  )
}
describeWith(s3Needs('ceph'), '8 writers on ceph', { tags: 'all' }, () => loseNone(bucketOf('ceph'), editsInBuckets))

it('[FS12] lists a directory of 100,000 files within its limit', { tags: 'deep' }, async () => {
  const workspace = await workspaceWith()
  for (let index = 0; index < 100_000; index += 1) await workspace.write(`/d/f${index}`, '')
  const { done: call } = files(createTools(workspace))
  const { result, longest } = await longestTurn(async () => [
    await call('list', { path: '/d' }),
    await call('find', { glob: 'f9*' }),
  ])
  const [listed, found] = result
  expect(listed?.data).toMatchObject({ entries: 200, total: 100_000, left_out: 99_800 })
  expect(listed?.text.length).toBeLessThan(10_000)
  expect(found?.data).toMatchObject({ total: 11_111, left_out: 11_011 })
  expect(longest).toBeLessThan(20)
})
