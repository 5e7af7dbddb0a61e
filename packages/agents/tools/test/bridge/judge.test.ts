import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, rules } from '@ws/core'
import type { Workspace } from '@ws/core'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { createTools } from '@ws/tools'
import { faceNames } from '../../src/face-names.ts'
import { judgeCall } from '@ws/tools/bridge'
import { describe, expect, it, onTestFinished } from 'vitest'

async function open(): Promise<Workspace> {
  const workspace = await createWorkspace({
    mounts: [{ at: '/', adapter: () => createMemoryAdapter() }],
    executors: [createVirtualExecutor()],
    rules: [rules.readOnly('/docs'), rules.ask('*.pem')],
  })
  onTestFinished(() => workspace.close())
  return workspace
}

type Calls = readonly (readonly [tool: string, kind: string, input: (path: string) => object])[]

const patch = (line: string): string => `*** Begin Patch\n*** ${line}\n*** End Patch`

/** A call of each tool that changes something, at a path. */
const changes: Calls = [
  ['file_system', 'change', (path) => ({ operation: 'write', path, content: '' })],
  ['file_system', 'change', (path) => ({ operation: 'move', from: '/a', to: path })],
  ['file_system', 'change', (path) => ({ operation: 'rename', from: path, to: '/a' })],
  ['write', 'change', (path) => ({ path, content: '' })],
  ['replace', 'change', (path) => ({ path, old: 'a', new: 'b' })],
  ['download', 'change', (path) => ({ url: 'https://example.com', path })],
  ['copy', 'change', (path) => ({ from: '/a', to: path })],
  ['rename', 'change', (path) => ({ from: '/a', to: path })],
  ['move', 'change', (path) => ({ from: path, to: '/a' })],
  ['delete', 'change', (path) => ({ path })],
  ['Edit', 'change', (path) => ({ file_path: path, old_string: 'a', new_string: 'b' })],
  ['Write', 'change', (path) => ({ file_path: path, content: '' })],
  ['str_replace_based_edit_tool', 'change', (path) => ({ command: 'str_replace', path, old_str: 'a' })],
  ['memory', 'change', (path) => ({ command: 'rename', old_path: '/a', new_path: path })],
  ['memory', 'change', (path) => ({ command: 'delete', path })],
  ['edit', 'change', (path) => ({ file_path: path, old_string: 'a', new_string: 'b' })],
  ['apply_patch', 'change', (path) => ({ input: patch(`Delete File: ${path}`) })],
  ['apply_patch', 'change', (path) => ({ input: patch(`Update File: /a\n*** Move to: ${path}`) })],
  ['apply_patch', 'change', (path) => ({ type: 'create_file', path, diff: '' })],
  ['apply_patch', 'change', (path) => ({ operation: { type: 'update_file', path: '/a', moveTo: path } })],
]

const reads: Calls = [
  ['file_system', 'read', (path) => ({ operation: 'list', path })],
  ['read', 'read', (path) => ({ path })],
  ['read', 'read', (path) => ({ file_path: path })],
  ['read_chunked', 'read', (path) => ({ path })],
  ['inspect', 'read', (path) => ({ path })],
  ['view_image', 'read', (path) => ({ path })],
  ['search', 'read', (path) => ({ pattern: 'x', path })],
  ['find', 'read', () => ({ glob: '*' })],
  ['list', 'read', () => ({})],
  ['Read', 'read', (path) => ({ file_path: path })],
  ['Glob', 'read', (path) => ({ pattern: '*', path })],
  ['Grep', 'read', () => ({ pattern: 'x' })],
  ['str_replace_based_edit_tool', 'read', (path) => ({ command: 'view', path })],
  ['execute', 'read', () => ({ id: 'c1', kill: true })],
  ['TaskOutput', 'read', () => ({ task_id: 'c1' })],
  ['TaskStop', 'read', () => ({ task_id: 'c1' })],
  ['glob', 'read', () => ({ pattern: '*' })],
  ['grep', 'read', (path) => ({ pattern: 'x', path })],
]

const commands: Calls = [
  ['execute', 'command', (cwd) => ({ command: 'ls', cwd })],
  ['Bash', 'command', () => ({ command: 'ls' })],
  ['bash', 'command', () => ({ command: 'ls' })],
  ['shell', 'command', () => ({ commands: ['ls', 'pwd'] })],
]

describe('the judgement about a call', () => {
  it.each(changes)('%s: denies a change that a rule forbids, with the remedy', async (tool, kind, input) => {
    const workspace = await open()
    await workspace.write('/a', '')
    const judge = (path: string) => judgeCall(workspace, tool, input(path), { hosts: ['example.com'] })
    expect(await judge('docs/x.md')).toEqual({
      effect: 'deny',
      kind,
      reason: expect.stringMatching(/^EACCES: \w+: `\/docs\/x\.md` .*; write outside `\/docs`/u),
    })
    expect(await judge('notes/x.md')).toEqual({ effect: 'allow', kind })
  })

  it.each([...reads, ...commands])('%s: allows what rules allow, as a %s', async (tool, kind, input) => {
    const workspace = await open()
    expect(await judgeCall(workspace, tool, input('/'))).toEqual({ effect: 'allow', kind })
  })

  it.each([
    [undefined, 'no.test', /^EACCES: connect: `no\.test` cannot be reached: commands have no network/u],
    [{ hosts: ['yes.test'] }, 'no.test', /`no\.test` is not in the list of hosts that downloads may reach/u],
    [{ hosts: ['yes.test'] }, 'yes.test:8080', /entry `yes\.test:8080` in `downloads\.hosts`/u],
    [{ hosts: ['yes.test'] }, 'yes.test', undefined],
    [{ hosts: 'public' }, 'no.test', undefined],
  ] as const)('[RU14] judges the host of a download by %j: %s', async (downloads, host, reason) => {
    const call = { operation: 'download', url: `https://${host}/x`, path: 'x' }
    const judgement = await judgeCall(await open(), 'file_system', call, downloads)
    expect(judgement).toEqual({
      effect: reason === undefined ? 'allow' : 'deny',
      kind: 'change',
      ...(reason !== undefined && { reason: expect.stringMatching(reason) }),
    })
  })

  it('leaves a missing file to the tool, and denies a path outside', async () => {
    const workspace = await open()
    expect(await judgeCall(workspace, 'read', { path: 'missing' })).toEqual({ effect: 'allow', kind: 'read' })
    expect(await judgeCall(workspace, 'read', { path: '../../x' })).toMatchObject({
      effect: 'deny',
      reason: expect.stringContaining('EOUTSIDE'),
    })
  })

  it('[EF6] says which refusals a person can grant, unless another rule denies', async () => {
    const workspace = await open()
    await workspace.write('/a', '')
    const move = (from: string, to: string) => judgeCall(workspace, 'move', { from, to })
    expect(await judgeCall(workspace, 'write', { path: 'a.pem', content: '' })).toEqual({
      effect: 'ask',
      kind: 'change',
      reason: expect.stringContaining('ask the user to allow it'),
    })
    expect(await move('/a', '/docs/a.pem')).toMatchObject({ effect: 'deny' })
    expect(await move('/docs/x', '/a.pem')).toMatchObject({ effect: 'deny' })
  })

  it('does not know other tools and shapes', async () => {
    const workspace = await open()
    for (const input of [undefined, null, 'text', {}, { path: 1 }, { operation: 'constructor' }]) {
      for (const tool of ['write', 'file_system', 'weather', 'toString', 'memory', 'shell', 'execute', 'apply_patch']) {
        expect((await judgeCall(workspace, tool, input)).kind).toBe('unknown')
      }
    }
  })

  it('knows each tool of each face', async () => {
    const workspace = await open()
    const known = new Set([...changes, ...reads, ...commands].map(([tool]) => tool))
    const tools = faceNames.flatMap((face) => createTools(workspace, { face }).tools.map(({ name }) => name))
    expect(tools.filter((name) => !known.has(name))).toEqual([])
  })

  it('denies every command where there is no executor', async () => {
    const workspace = await createWorkspace({ mounts: [{ at: '/', adapter: () => createMemoryAdapter() }] })
    onTestFinished(() => workspace.close())
    expect(await judgeCall(workspace, 'bash', { command: 'ls' })).toMatchObject({
      effect: 'deny',
      reason: expect.stringContaining('ENOEXECUTOR'),
    })
  })
})
