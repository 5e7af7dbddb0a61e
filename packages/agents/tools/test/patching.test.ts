import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, rules, type Workspace, WorkspaceError } from '@ws/core'
import { createTools } from '@ws/tools'
import { describe, expect, it, onTestFinished } from 'vitest'

import { done, refused } from './support/calls.ts'
import { stores, workspaceOn, workspaceWith } from './support/stores.ts'

const given = { '/a.txt': 'one\ntwo\n', '/b.txt': 'one\ntwo\n', '/c.txt': 'c\n', '/denied.txt': 'one\n' }

const patch = (...lines: readonly string[]): { input: string } => ({
  input: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n'),
})
const update = (path: string): readonly string[] => [`*** Update File: ${path}`, '-one', '+1']

const openAI = (workspace: Workspace) => createTools(workspace, { face: 'openai' })

async function contents(workspace: Workspace): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for await (const { path, type } of workspace.list('/', { recursive: true })) {
    found[path] = type === 'file' ? await workspace.readText(path) : type
  }
  return found
}

/** The workspace with one method replaced: it fails, or does more, before or after its work. */
function withMethod<Name extends 'write' | 'delete' | 'move' | 'stat'>(
  workspace: Workspace,
  name: Name,
  method: Workspace[Name],
): Workspace {
  return new Proxy(workspace, {
    get(target, key) {
      if (key === name) return method
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

const failed = (path: string): WorkspaceError =>
  new WorkspaceError({ code: 'EIO', operation: 'write', path, reason: 'could not be written' })

describe('a patch of several files', () => {
  it.each([
    [
      'one file twice, where the second finds nothing',
      patch(...update('a.txt'), ...update('./a.txt')),
      'were not found',
    ],
    ['a file that is the target of a move', patch(...update('a.txt'), '*** Move to: b.txt'), 'exists already'],
    [
      'two moves to one path',
      patch('*** Update File: a.txt', '*** Move to: n.txt', '*** Update File: b.txt', '*** Move to: n.txt'),
      'is named twice',
    ],
    ['a new file that is there', patch(...update('a.txt'), '*** Add File: c.txt', '+x'), 'exists already'],
    ['a second file that a rule denies', patch(...update('a.txt'), ...update('denied.txt')), 'denied'],
    ['a new file that a rule denies', patch(...update('a.txt'), '*** Add File: denied/x', '+x'), 'denied'],
    ['a target of a move that a rule denies', patch(...update('a.txt'), '*** Move to: denied/x'), 'denied'],
    ['a deletion that a rule denies', patch(...update('a.txt'), '*** Delete File: denied.txt'), 'denied'],
    ['a deletion of a missing file', patch(...update('a.txt'), '*** Delete File: none.txt'), 'does not exist'],
    ['a deletion of a directory', patch(...update('a.txt'), '*** Delete File: d'), 'directory'],
    ['lines that are not there', patch(...update('a.txt'), ...update('c.txt')), 'were not found'],
    ['the root', patch(...update('a.txt'), '*** Delete File: /'), 'is the root'],
  ])('[PC23] is refused before the first write: %s', async (_, input, words) => {
    const workspace = await workspaceWith(
      { ...given, '/d/x': 'x' },
      { rules: [rules.deny('/denied.txt'), rules.deny('/denied')] },
    )
    const watched = withMethod(workspace, 'write', () => Promise.reject(new Error('it wrote')))
    const answer = await refused(openAI(watched), 'apply_patch', input)
    expect(answer.text).toContain(words)
  })

  it.each(['write', 'delete', 'move'] as const)('[PC23] is taken back where a late %s fails', async (name) => {
    const workspace = await workspaceWith(given)
    const before = await contents(workspace)
    const failing = withMethod(workspace, name, ((path: string, ...rest: readonly never[]) =>
      path.includes('b.txt') && (name !== 'write' || rest.length > 0)
        ? Promise.reject(failed(path))
        : (workspace[name] as (...all: readonly unknown[]) => Promise<never>)(path, ...rest)) as never)
    const last = {
      write: update('b.txt'),
      delete: ['*** Delete File: b.txt'],
      move: ['*** Update File: b.txt', '*** Move to: m/b.txt'],
    }[name]
    const toolset = openAI(failing)
    const answer = await refused(
      toolset,
      'apply_patch',
      patch(...update('a.txt'), '*** Add File: new/deep/x.txt', '+x', '*** Delete File: c.txt', ...last),
    )
    expect(answer.text).toContain('could not be written')
    expect(await contents(workspace)).toEqual(before)
    expect(toolset.journal()).toEqual([])
  })

  it('[PC23] takes no file for deleted that it cannot look at after a failed deletion', async () => {
    const workspace = await workspaceWith(given)
    let isCut = false
    const silent = withMethod(workspace, 'stat', async (path, options) => {
      if (isCut) throw failed(path)
      return workspace.stat(path, options)
    })
    const failing = withMethod(silent, 'delete', async (path) => {
      isCut = true
      throw failed(path)
    })
    const toolset = openAI(failing)
    const answer = await refused(toolset, 'apply_patch', patch('*** Delete File: b.txt'))
    expect(answer.text).not.toContain('could not be taken back')
    expect(toolset.journal()).toEqual([])
    expect(await contents(workspace)).toEqual(given)
  })

  it('[PC23] takes a write back whose answer was lost', async () => {
    const workspace = await workspaceWith(given)
    const before = await contents(workspace)
    const lossy = withMethod(workspace, 'write', async (path, data, options) => {
      const result = await workspace.write(path, data, options)
      if (
        path === '/b.txt' &&
        Buffer.from(data as Uint8Array)
          .toString()
          .startsWith('1')
      )
        throw failed(path)
      return result
    })
    await refused(openAI(lossy), 'apply_patch', patch(...update('a.txt'), ...update('b.txt')))
    expect(await contents(workspace)).toEqual(before)
  })

  it('[PC23] names the files that stay changed where others changed them meanwhile', async () => {
    const workspace = await workspaceWith(given)
    const failing = withMethod(workspace, 'write', async (path, data, options) => {
      if (path !== '/c.txt') return workspace.write(path, data, options)
      await workspace.write('/a.txt', 'of another\n')
      throw failed(path)
    })
    const toolset = openAI(failing)
    const answer = await refused(
      toolset,
      'apply_patch',
      patch(...update('a.txt'), ...update('b.txt'), '*** Update File: c.txt', '-c', '+C'),
    )
    expect(answer.text).toContain('could not be taken back: `/a.txt` (updated)')
    expect(answer.data).toMatchObject({ code: 'EIO', changed: ['/a.txt'] })
    expect(await contents(workspace)).toEqual({ ...given, '/a.txt': 'of another\n' })
    expect(toolset.journal()).toMatchObject([{ change: 'updated', path: '/a.txt' }])
  })

  it('[PC23] is matched again where a file changes in between', async () => {
    const workspace = await workspaceWith(given)
    let isFirst = true
    const raced = withMethod(workspace, 'write', async (path, data, options) => {
      if (path === '/b.txt' && isFirst) {
        isFirst = false
        await workspace.write('/b.txt', 'zero\none\n')
      }
      return workspace.write(path, data, options)
    })
    const toolset = openAI(raced)
    await done(toolset, 'apply_patch', patch(...update('a.txt'), ...update('b.txt')))
    expect(await contents(workspace)).toEqual({ ...given, '/a.txt': '1\ntwo\n', '/b.txt': 'zero\n1\n' })
    expect(toolset.journal().map(({ path }) => path)).toEqual(['/a.txt', '/b.txt'])
  })

  it('[PC23] is taken back on an abort in between', async () => {
    const workspace = await workspaceWith(given)
    const before = await contents(workspace)
    const abort = new AbortController()
    const raced = withMethod(workspace, 'write', async (path, data, options) => {
      const result = await workspace.write(path, data, options)
      if (path === '/a.txt') abort.abort(new Error('enough'))
      return result
    })
    const input = patch(...update('a.txt'), ...update('b.txt'))
    await expect(openAI(raced).run('apply_patch', input, { signal: abort.signal })).rejects.toThrow('enough')
    expect(await contents(workspace)).toEqual(before)
  })

  it('[PC23] takes a file and a link to it for one', async () => {
    const workspace = await createWorkspace({
      mounts: [{ at: '/', adapter: () => createMemoryAdapter({ files: given }) }],
    })
    onTestFinished(() => workspace.close())
    await workspace.createSymlink('/l.txt', 'a.txt')
    const toolset = openAI(workspace)
    const answer = await refused(toolset, 'apply_patch', patch(...update('a.txt'), ...update('l.txt')))
    expect(answer.text).toContain('is named twice')
    await done(toolset, 'apply_patch', patch(...update('l.txt')))
    expect(await workspace.readText('/a.txt')).toBe('1\ntwo\n')
    expect((await workspace.stat('/l.txt')).type).toBe('symlink')
  })

  for (const store of stores) {
    it(`[PC23] lands whole on ${store.name}`, { tags: store.tags }, async () => {
      const workspace = await workspaceOn(store, given)
      const toolset = openAI(workspace)
      await done(
        toolset,
        'apply_patch',
        patch(
          ...update('a.txt'),
          '*** Add File: new/x.txt',
          '+x',
          '*** Update File: b.txt',
          '*** Move to: m/b.txt',
          '-one',
          '+1',
          '*** Delete File: c.txt',
        ),
      )
      expect(await workspace.readText('/a.txt')).toBe('1\ntwo\n')
      expect(await workspace.readText('/new/x.txt')).toBe('x\n')
      expect(await workspace.readText('/m/b.txt')).toBe('1\ntwo\n')
      expect(await workspace.exists('/b.txt')).toBe(false)
      expect(await workspace.exists('/c.txt')).toBe(false)
      expect(toolset.journal().map(({ change, path }) => `${change} ${path}`)).toEqual([
        'updated /a.txt',
        'created /new/x.txt',
        'updated /b.txt',
        'moved /m/b.txt',
        'deleted /c.txt',
      ])
    })
  }
})
