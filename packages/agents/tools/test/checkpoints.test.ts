import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace } from '@ws/core'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { createCheckpoints } from '@ws/snapshots'
import { createTools, type Toolset } from '@ws/tools'
import { describe, expect, it } from 'vitest'

async function open(face: 'split' | 'claude-code' | 'file_system') {
  const workspace = await createWorkspace({
    mounts: [{ at: '/', adapter: () => createMemoryAdapter({ files: { '/a.txt': 'one\n', '/b.txt': 'b\n' } }) }],
    executors: [createVirtualExecutor()],
    checkpoints: createCheckpoints(),
  })
  return { workspace, tools: createTools(workspace, { face, checkpoints: true, downloads: false }) }
}

async function textOf(tools: Toolset, name: string, input: unknown): Promise<string> {
  const { isError, text } = await tools.run(name, input)
  expect(isError, text).toBe(false)
  return text
}

describe('tools with checkpoints', () => {
  it('name the changes of calls and commands, and take back one or all of them', async () => {
    const { workspace, tools } = await open('split')
    await using _workspace = workspace
    await using _tools = tools
    await textOf(tools, 'write', { path: '/a.txt', content: 'two\n' })
    await textOf(tools, 'execute', { command: 'rm b.txt; mkdir made; echo x > made/c.txt' })
    const first = (await workspace.checkpoints())[0]
    expect(first).toMatchObject({ label: 'before write 1', automatic: true })

    const changes = await textOf(tools, 'changes', { since: first?.id, diff: true })
    expect(changes).toContain('changed /a.txt (content)\ndeleted /b.txt\ncreated /made\ncreated /made/c.txt')
    expect(changes).toContain('-one\n+two')
    expect(changes).toContain(`${first?.id}  `)

    expect(await textOf(tools, 'restore', { checkpoint: first?.id, dry_run: true })).toContain('Would take back')
    expect(await workspace.exists('/b.txt')).toBe(false)
    await textOf(tools, 'restore', { checkpoint: first?.id, paths: ['/b.txt'] })
    expect(await workspace.readText('/b.txt')).toBe('b\n')
    expect(await workspace.exists('/made')).toBe(true)
    const undone = await textOf(tools, 'restore', { checkpoint: first?.id })
    expect(await workspace.readText('/a.txt')).toBe('one\n')
    expect(await workspace.exists('/made')).toBe(false)
    const [, undo] = /To undo this, restore (\w+)\./u.exec(undone) ?? []
    await textOf(tools, 'restore', { checkpoint: undo })
    expect(await workspace.readText('/a.txt')).toBe('two\n')
    expect(tools.journal().map(({ change, path }) => `${change} ${path}`)).toContain('deleted /made/c.txt')
  })

  it('take no checkpoint where nothing has changed, and are there in every face', async () => {
    for (const face of ['split', 'claude-code', 'file_system'] as const) {
      const { workspace, tools } = await open(face)
      await using _workspace = workspace
      await using _tools = tools
      const names = tools.tools.map(({ name }) => name)
      expect(names.slice(-2)).toEqual(['changes', 'restore'])
      const refused = await tools.run('restore', { checkpoint: 'c0' })
      expect(refused).toMatchObject({ isError: true, data: { code: 'ENOENT' } })
      expect(await workspace.checkpoints()).toEqual([])
    }
    const { workspace, tools } = await open('split')
    await using _workspace = workspace
    await using _tools = tools
    for (let turn = 0; turn < 3; turn += 1) await textOf(tools, 'execute', { command: 'cat a.txt' })
    expect(await workspace.checkpoints()).toHaveLength(1)
  })

  it('end the answer of Bash with what the command changed', async () => {
    const { workspace, tools } = await open('claude-code')
    await using _workspace = workspace
    await using _tools = tools
    const { text, data } = await tools.run('Bash', { command: 'rm b.txt; echo x > c.txt; echo done' })
    expect(text).toContain('done')
    expect(text).toMatch(/\[changed:\ndeleted \/b\.txt\ncreated \/c\.txt\]$/u)
    expect(data).toMatchObject({ changes: [{ path: '/b.txt' }, { path: '/c.txt' }] })
    const many = await textOf(tools, 'Bash', { command: 'for i in $(seq 30); do echo > n$i; done' })
    expect(many).toContain('[10 more: see `changes`]')
    expect(await textOf(tools, 'Bash', { command: 'cat a.txt' })).not.toContain('changed')
  })

  it('are not there without the option', async () => {
    const { workspace } = await open('split')
    await using _workspace = workspace
    await using tools = createTools(workspace, { face: 'split', downloads: false })
    expect(tools.tools.some(({ name }) => name === 'restore')).toBe(false)
  })
})

it('name the files of git that act on later commands, and count its own', async () => {
  const { workspace, tools } = await open('claude-code')
  await using _workspace = workspace
  await using _tools = tools
  const command =
    'mkdir -p .git/objects/ab .git/hooks; for f in objects/ab/c index HEAD config hooks/x; do echo 1 > .git/$f; done; echo 2 > a.txt'
  const text = await textOf(tools, 'Bash', { command })
  const changed = text.slice(text.indexOf('[changed:')).split('\n')
  expect(changed).toEqual([
    '[changed:',
    'created /.git/config',
    'created /.git/hooks',
    'created /.git/hooks/x',
    'changed /a.txt (content)',
    "6 of git's own files]",
  ])
  expect(await textOf(tools, 'Write', { file_path: '/new.txt', content: 'x' })).toBe('Created `/new.txt` (1 bytes).')
})

it('[UN1] tools name the changed files in answers to commands, in each face that has commands, when they are asked to', async () => {
  const calls = {
    split: ['execute', { command: 'rm b.txt; for n in $(seq 30); do echo x > f$n.txt; done' }],
    openai: ['shell', { commands: ['rm b.txt', 'for n in $(seq 30); do echo x > f$n.txt; done'] }],
    'claude-code': ['Bash', { command: 'rm b.txt; for n in $(seq 30); do echo x > f$n.txt; done' }],
  } as const
  for (const [face, [tool, input]] of Object.entries(calls)) {
    for (const checkpoints of [false, true]) {
      const { workspace } = await open('split')
      await using _workspace = workspace
      await using tools = createTools(workspace, {
        face: face as 'split',
        changes: true,
        checkpoints,
        downloads: false,
      })
      const text = await textOf(tools, tool, input)
      expect(text, face).toContain('deleted /b.txt')
      expect(text.match(/created \/f\d+\.txt/gu), face).toHaveLength(face === 'openai' ? 20 : 19)
      expect(text, face).toMatch(/\[1[01] more: /u)
      expect(text.match(/deleted \/b\.txt/gu), face).toHaveLength(1)
    }
  }
})

it('[UN1] tools name the changes of a command in the background when it has ended', async () => {
  const { workspace } = await open('split')
  await using _workspace = workspace
  await using tools = createTools(workspace, { face: 'split', changes: true, downloads: false })
  await textOf(tools, 'execute', { command: 'rm b.txt', background: true })
  await workspace.command('c1').wait()
  expect(await textOf(tools, 'execute', { id: 'c1' })).toContain('[changed:\ndeleted /b.txt]')
})
