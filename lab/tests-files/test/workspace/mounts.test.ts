import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'

import { createLocalAdapter } from '@ws/adapter-local'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, isWorkspaceError, readOnly, rules } from '@ws/core'
import type { WorkspaceOptions } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import { codeOf, createScratchDirectory } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'
import { openMemory, paths } from '../../src/memory-workspace.ts'

const tree = {
  '/': { '/a.txt': 'a' },
  '/.solven/skills/system': { '/s.md': 's' },
  '/.solven/skills/u1': { '/own.md': 'o' },
}

describe('the mount table as the namespace', () => {
  it('[PC1, PC15, PC16] lists mount points in their parents, and other users’ skills nowhere', async () => {
    const { workspace } = await openMemory(tree)
    expect(await paths(workspace.list('/.solven/skills'))).toEqual(['/.solven/skills/system', '/.solven/skills/u1'])
    expect(await paths(workspace.list('/.solven/skills/'))).toEqual(['/.solven/skills/system', '/.solven/skills/u1'])
    expect(await codeOf(workspace.list('/.solven/skills/u2').next())).toBe('ENOENT')
  })

  it('[PC15] makes the points of mounts below `/tmp` in the scratch, and none for the scratch itself', async () => {
    for (const at of ['/', '/workspace']) {
      const { workspace, adapters } = await openMemory({ [at]: { '/a': 'a' }, '/tmp/x/y': { '/f': 'f' } })
      expect(await paths(workspace.list('/tmp', { recursive: true }))).toEqual(['/tmp/x', '/tmp/x/y', '/tmp/x/y/f'])
      expect(await codeOf(workspace.delete('/tmp/x', { recursive: true }))).toBe('EBUSY')
      expect(await adapters[0]?.stat('/tmp' as never).catch((error: unknown) => error)).toMatchObject({
        code: 'ENOENT',
      })
    }
  })

  it('[PC6, PC10] lists recursively across mounts, with absolute virtual paths', async () => {
    const { workspace } = await openMemory(tree)
    expect(await paths(workspace.list('/', { recursive: true }))).toEqual([
      '/.solven',
      '/.solven/skills',
      '/.solven/skills/system',
      '/.solven/skills/system/s.md',
      '/.solven/skills/u1',
      '/.solven/skills/u1/own.md',
      '/a.txt',
    ])
  })

  it('[PC17] a ticket path without a ticket is ENOENT, and is not made by accident', async () => {
    const { workspace } = await openMemory(tree)
    expect(await codeOf(workspace.list('/.ticket').next())).toBe('ENOENT')
    expect(await codeOf(workspace.read('/.ticket/x'))).toBe('ENOENT')
    expect(await paths(workspace.list('/'))).toEqual(['/.solven', '/a.txt'])
  })

  it('hides in the outer adapter what lies below a mount', async () => {
    const { workspace, adapters } = await openMemory({ '/': { '/m/old': '1' }, '/m': { '/new': '2' } })
    expect(await paths(workspace.list('/', { recursive: true }))).toEqual(['/m', '/m/new'])
    expect(await codeOf(workspace.read('/m/old'))).toBe('ENOENT')
    expect(await adapters[0]?.stat('/m/old' as never)).toMatchObject({ type: 'file' })
    const hits: string[] = []
    for await (const { path } of workspace.search('1')) hits.push(path)
    expect(hits).toEqual([])
  })

  it('a mount point, and what leads to it, can be neither removed nor renamed nor replaced', async () => {
    const { workspace } = await openMemory(tree)
    for (const path of ['/.solven', '/.solven/skills', '/.solven/skills/system', '/']) {
      expect(await codeOf(workspace.delete(path, { recursive: true })), path).toBe('EBUSY')
      expect(await codeOf(workspace.move(path, '/elsewhere')), path).toBe('EBUSY')
    }
    expect(await codeOf(workspace.move('/a.txt', '/.solven/skills/system', { overwrite: true }))).toBe('EBUSY')
    expect(await codeOf(workspace.copy('/a.txt', '/.solven', { overwrite: true }))).toBe('EBUSY')
  })

  it('with a mount at /workspace the root is synthetic and read-only, and bin is nothing special', async () => {
    const { workspace } = await openMemory({ '/workspace': { '/bin/tool': 'x' } })
    expect(workspace.root).toBe('/workspace')
    expect(await workspace.readText('bin/tool')).toBe('x')
    expect(await paths(workspace.list('/'))).toEqual(['/workspace'])
    expect((await workspace.stat('/')).type).toBe('directory')
    expect(await codeOf(workspace.write('/x', ''))).toBe('EROFS')
    expect(await codeOf(workspace.createDirectory('/other/x'))).toBe('EROFS')
    expect(await codeOf(workspace.read('/nothing'))).toBe('ENOENT')
    await workspace.createDirectory('/workspace')
  })

  it('[RP20] /tmp is there, private, not listed, and exempt from rules that do not name it', async () => {
    const { workspace } = await openMemory({ '/': {} }, { rules: [rules.withinWorkspace('/proj')] })
    await workspace.write('/tmp/x/y', '1')
    expect(await paths(workspace.list('/tmp', { recursive: true }))).toEqual(['/tmp/x', '/tmp/x/y'])
    const other = await openMemory({ '/': {} })
    expect(await codeOf(other.workspace.read('/tmp/x/y'))).toBe('ENOENT')
    expect(await paths(other.workspace.list('/', { recursive: true }))).toEqual([])
  })
})

describe('moves and copies', () => {
  it('copy across mounts keeps the tree; move deletes the source after everything is copied', async () => {
    const { workspace } = await openMemory({ '/': { '/src/a': '1', '/src/d/b': '2' }, '/other': {} })
    await workspace.copy('/src', '/other/copy')
    expect(await paths(workspace.list('/other', { recursive: true }))).toEqual([
      '/other/copy',
      '/other/copy/a',
      '/other/copy/d',
      '/other/copy/d/b',
    ])
    await workspace.move('/src', '/other/moved')
    expect(await workspace.exists('/src')).toBe(false)
    expect(await workspace.readText('/other/moved/d/b')).toBe('2')
    expect(await codeOf(workspace.move('/other/copy/a', '/new/a'))).toBe('done')
    expect(await workspace.readText('/new/a')).toBe('1')
  })

  it('copies a tree that holds a mount', async () => {
    const { workspace } = await openMemory(tree)
    await workspace.copy('/.solven', '/backup')
    expect(await workspace.readText('/backup/skills/system/s.md')).toBe('s')
  })

  it('refuse to overwrite across mounts unless told to', async () => {
    const { workspace } = await openMemory({ '/': { '/a': '1' }, '/o': { '/a': '2' } })
    expect(await codeOf(workspace.copy('/a', '/o/a'))).toBe('EEXIST')
    expect(await codeOf(workspace.move('/a', '/o/a'))).toBe('EEXIST')
    expect(await workspace.readText('/o/a')).toBe('2')
    await workspace.move('/a', '/o/a', { overwrite: true })
    expect(await workspace.readText('/o/a')).toBe('1')
  })

  it('report what was done and what was not, and lose nothing', async () => {
    const inner = createMemoryAdapter()
    let writes = 0
    const failing: StorageAdapter = new Proxy(inner, {
      get(target, key) {
        const value: unknown = Reflect.get(target, key, target)
        if (typeof value !== 'function') return value
        if (key !== 'write') return value.bind(target)
        return async (...args: Parameters<StorageAdapter['write']>) => {
          writes += 1
          if (writes === 3) throw new Error('/host/path broke')
          return target.write(...args)
        }
      },
    })
    const source = createMemoryAdapter({ files: { '/d/1': '1', '/d/2': '2', '/d/3': '3', '/d/4': '4' } })
    const workspace = await createWorkspace({
      mounts: [
        { at: '/', adapter: source },
        { at: '/o', adapter: failing },
      ],
    })
    const error: unknown = await workspace.move('/d', '/o/d').catch((caught: unknown) => caught)
    if (!isWorkspaceError(error)) throw error
    expect(error.code).toBe('EIO')
    expect(error.partial).toMatchObject({ completedCount: 3, completed: expect.arrayContaining(['/o/d']) as unknown })
    expect(error.partial?.failedAt).toMatch(/^\/d\/\d$/)
    expect(error.message).not.toContain('host')
    expect(await paths(workspace.list('/d'))).toEqual(['/d/1', '/d/2', '/d/3', '/d/4'])
  })

  it('into itself is refused, within a mount and across', async () => {
    const { workspace } = await openMemory({ '/': { '/d/x': '1' }, '/d/m': {} })
    expect(await codeOf(workspace.copy('/d', '/d/m/copy'))).toBe('EINVAL')
    expect(await codeOf(workspace.copy('/d', '/d/copy'))).toBe('EINVAL')
  })

  it('need the right on every rule below, before anything is touched', async () => {
    const { workspace } = await openMemory(
      { '/': { '/d/a': '1', '/d/secret': 's', '/d/z': '2' } },
      { rules: [rules.deny('/d/secret'), rules.readOnly('/keep/deep')] },
    )
    expect(await codeOf(workspace.delete('/d', { recursive: true }))).toBe('EACCES')
    expect(await codeOf(workspace.copy('/d', '/e'))).toBe('EACCES')
    expect(await codeOf(workspace.move('/d', '/e'))).toBe('EACCES')
    expect(await codeOf(workspace.move('/d/a', '/keep'))).toBe('EACCES')
    expect(await codeOf(workspace.copy('/D', '/e'))).toBe('EACCES')
    expect(await paths(workspace.list('/d'))).toEqual(['/d/a', '/d/secret', '/d/z'])
  })

  it('predicates are asked for every entry of a tree, and while a stream grows', async () => {
    const { workspace } = await openMemory(
      { '/': { '/d/a.txt': '1', '/d/k.pem': 'key' } },
      { rules: [rules.denyGlob('*.pem'), rules.maxFileSize(10)] },
    )
    expect(await codeOf(workspace.copy('/d', '/e'))).toBe('EACCES')
    expect(await codeOf(workspace.delete('/d', { recursive: true }))).toBe('EACCES')
    const hits: string[] = []
    for await (const { path } of workspace.search('key')) hits.push(path)
    expect(hits).toEqual([])
    async function* chunks() {
      for (let index = 0; index < 4; index += 1) yield new Uint8Array(4)
    }
    expect(await codeOf(workspace.write('/big', chunks()))).toBe('EACCES')
    expect(await workspace.exists('/big')).toBe(false)
    expect(await codeOf(workspace.write('/big', new Uint8Array(11)))).toBe('EACCES')
    expect(await codeOf(workspace.write('/small', new Uint8Array(10)))).toBe('done')
    expect(await codeOf(workspace.append('/small', 'x'))).toBe('EACCES')
  })
})

describe('making a workspace', () => {
  it('[PC15] that fails says why, and closes the adapters, also where its scratch cannot be closed', async () => {
    const store = createMemoryAdapter()
    const closed: string[] = []
    store.createScratch = async () =>
      Object.assign(createMemoryAdapter(), { close: () => Promise.reject(new Error('the store is gone')) })
    const below = () => Object.assign(createMemoryAdapter(), { close: async () => void closed.push('below') })
    const mounts = [
      { at: '/', adapter: () => store },
      { at: '/tmp/x', adapter: below },
    ]
    expect(await codeOf(createWorkspace({ mounts, require: 'untrusted' }))).toBe('ENOEXECUTOR')
    expect(closed).toEqual(['below'])
  })

  const bad: readonly (readonly [string, unknown, RegExp])[] = [
    ['nothing', undefined, /EINVAL.*mounts/],
    ['no mounts', { mounts: [] }, /EINVAL.*mounts/],
    ['a relative mount', { mounts: [{ at: 'x', adapter: createMemoryAdapter() }] }, /EINVAL.*absolute/],
    ['`..` in a mount', { mounts: [{ at: '/a/../b', adapter: createMemoryAdapter() }] }, /EINVAL/],
    ['no adapter', { mounts: [{ at: '/' }] }, /EINVAL.*adapter/],
    ['a wrong access', { mounts: [{ at: '/', adapter: createMemoryAdapter(), access: 'rw' }] }, /EINVAL.*access/],
    [
      'both rules and policy',
      {
        mounts: [{ at: '/', adapter: createMemoryAdapter() }],
        rules: [],
        policy: { decide: () => ({ effect: 'allow' }), subtreeRules: () => [] },
      },
      /EINVAL.*both/,
    ],
    [
      'a wrong alias',
      { mounts: [{ at: '/', adapter: createMemoryAdapter() }], aliases: { '/a/b': '/' } },
      /EINVAL.*alias/,
    ],
    [
      'require without executors',
      { mounts: [{ at: '/', adapter: createMemoryAdapter() }], require: 'untrusted' },
      /ENOEXECUTOR/,
    ],
    [
      'a mount point that is a file',
      {
        mounts: [
          { at: '/', adapter: createMemoryAdapter({ files: { '/m': 'x' } }) },
          { at: '/m', adapter: createMemoryAdapter() },
        ],
      },
      /EINVAL.*directory/,
    ],
    [
      'a missing mount point in a read-only mount',
      {
        mounts: [
          { at: '/', adapter: readOnly(createMemoryAdapter()) },
          { at: '/m', adapter: createMemoryAdapter() },
        ],
      },
      /EINVAL.*read-only/,
    ],
  ]

  it.each(bad)('with %s is one clear error', async (_name, options, message) => {
    await expect(createWorkspace(options as WorkspaceOptions)).rejects.toThrow(message)
  })

  it('closes what factories made when it fails, and leaves alone what was passed in', async () => {
    const closed: string[] = []
    const watched = (name: string): StorageAdapter => {
      const adapter = createMemoryAdapter()
      const close = adapter.close.bind(adapter)
      adapter.close = async () => {
        closed.push(name)
        await close()
      }
      return adapter
    }
    const mounts = [
      { at: '/', adapter: () => watched('made') },
      { at: '/p', adapter: watched('passed') },
    ]
    await expect(createWorkspace({ mounts: [...mounts, { at: 'bad', adapter: watched('x') }] })).rejects.toThrow(
      'EINVAL',
    )
    expect(closed).toEqual(['made'])
    const workspace = await createWorkspace({ mounts })
    await workspace.close()
    await workspace.close()
    expect(closed).toEqual(['made', 'made'])
    expect(await codeOf(workspace.read('/x'))).toBe('ECLOSED')
    expect(await codeOf(workspace.exec('true'))).toBe('ECLOSED')
    expect(await codeOf(workspace.list('/').next())).toBe('ECLOSED')
  })
})

it('[HO5] a move to another mount deletes nothing that no path can name', async () => {
  await using scratch = await createScratchDirectory()
  const odd = Buffer.concat([Buffer.from(`${scratch.path}/d/`), Buffer.from([0xff])])
  mkdirSync(odd, { recursive: true })
  writeFileSync(Buffer.concat([odd, Buffer.from('/file')]), 'x')
  const root = scratch.path
  await using workspace = await createWorkspace({
    mounts: [
      { at: '/disk', adapter: () => createLocalAdapter({ root }) },
      { at: '/memory', adapter: createMemoryAdapter() },
    ],
  })
  const refused = { code: 'EINVAL', path: '/disk/d/\\xff' }
  await expect(workspace.move('/disk/d', '/memory/d')).rejects.toMatchObject(refused)
  await expect(workspace.copy('/disk/d', '/memory/e', { recursive: true })).rejects.toMatchObject(refused)
  expect(readdirSync(odd)).toEqual(['file'])
})
