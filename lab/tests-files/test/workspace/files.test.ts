import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, rules } from '@ws/core'
import { getNativeCause } from '@ws/core/executor'
import type { AccessEvent, Policy } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import { codeOf } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'
import { openMemory, paths } from '../../src/memory-workspace.ts'

describe('reading', () => {
  it('[PC25] a window of lines: empty file, offset past the end, missing final newline, CRLF', async () => {
    const { workspace } = await openMemory({
      '/': { '/empty': '', '/abc': 'a\nb\nc', '/end': 'a\nb\n', '/crlf': 'a\r\nb\r\n', '/blank': '\n\n' },
    })
    expect(await workspace.readLines('/empty')).toMatchObject({ lines: [], offset: 0 })
    expect(await workspace.readLines('/abc')).toMatchObject({ lines: ['a', 'b', 'c'], offset: 0 })
    expect((await workspace.readLines('/abc')).nextOffset).toBeUndefined()
    expect(await workspace.readLines('/abc', { offset: 1, limit: 1 })).toMatchObject({
      lines: ['b'],
      offset: 1,
      nextOffset: 2,
    })
    expect(await workspace.readLines('/abc', { offset: 9 })).toMatchObject({ lines: [], offset: 3 })
    expect((await workspace.readLines('/end', { offset: 0, limit: 2 })).nextOffset).toBeUndefined()
    expect((await workspace.readLines('/crlf')).lines).toEqual(['a', 'b'])
    expect((await workspace.readLines('/blank')).lines).toEqual(['', ''])
  })

  it('[PC25] gives 2,000 lines by default', async () => {
    const { workspace } = await openMemory({ '/': { '/many': 'x\n'.repeat(2001) } })
    const window = await workspace.readLines('/many')
    expect(window.lines.length).toBe(2000)
    expect(window.nextOffset).toBe(2000)
  })

  it('invalid UTF-8 is EINVAL as text and fine as bytes', async () => {
    const { workspace } = await openMemory({ '/': {} })
    await workspace.write('/b', Uint8Array.from([97, 255, 10]))
    expect(await codeOf(workspace.readText('/b'))).toBe('EINVAL')
    expect(await codeOf(workspace.readLines('/b'))).toBe('EINVAL')
    expect([...(await workspace.read('/b')).bytes]).toEqual([97, 255, 10])
    expect(await codeOf(workspace.write('/s', 'a\ud800'))).toBe('EINVAL')
    expect(await workspace.exists('/s')).toBe(false)
  })

  it('[PC3] the root in every spelling, and what a trailing slash says', async () => {
    const { workspace } = await openMemory({ '/workspace': { '/f': 'x', '/d/y': 'y' } })
    for (const path of ['', '.', './', '/workspace', '/workspace/', 'd/..'])
      expect((await workspace.stat(path)).type, path).toBe('directory')
    for (const path of ['/', '//']) expect((await workspace.stat(path)).version, path).toBe('synthetic')
    expect(await workspace.readText('d//y')).toBe('y')
    for (const attempt of [
      workspace.read('f/'),
      workspace.stat('f/'),
      workspace.write('f/', 'x'),
      workspace.delete('f/'),
      workspace.move('f/', 'g'),
    ]) {
      expect(await codeOf(attempt)).toBe('ENOTDIR')
    }
    expect(await codeOf(workspace.write('new/', 'x'))).toBe('EISDIR')
  })
})

describe('parents', () => {
  it('are made by default, but not where the policy refuses to write', async () => {
    const { workspace } = await openMemory(
      { '/': {} },
      { rules: [rules.withinOutput('/out'), rules.allow('/a/b/cache', { justification: 'test' })] },
    )
    await workspace.write('/out/new/deep/x', '1')
    expect(await codeOf(workspace.write('/a/b/cache/x', '1'))).toBe('EACCES')
    expect(await codeOf(workspace.createDirectory('/a/b/cache/x'))).toBe('EACCES')
    expect(await codeOf(workspace.copy('/out/new', '/a/b/cache/copy'))).toBe('EACCES')
    expect(await workspace.exists('/a')).toBe(false)
    expect(await codeOf(workspace.write('/out/none/x', '1', { parents: false }))).toBe('ENOENT')
  })
})

describe('large files', () => {
  it('[PC25] are refused by read and readText, with what to use instead', async () => {
    const large = { '/large': '\0'.repeat(1000) }
    const { workspace } = await openMemory({ '/': large })
    for (const attempt of [
      workspace.read('/large', { maxBytes: 999 }),
      workspace.readText('/large', { maxBytes: 999 }),
    ]) {
      await expect(attempt).rejects.toMatchObject({ code: 'EFBIG', remedy: expect.stringContaining('readStream') })
    }
    expect(await workspace.readText('/large', { maxBytes: 1000 })).toBe(large['/large'])
  })

  it('[PC25] are refused where the adapter knows no limit, and from 256 MiB where none is given', async () => {
    const adapter = createMemoryAdapter({ files: { '/f': 'x' } })
    const asked: unknown[] = []
    const careless: StorageAdapter = Object.assign(Object.create(adapter), {
      read: async (path: never, { maxBytes }: { readonly maxBytes?: number } = {}) => {
        asked.push(maxBytes)
        return { bytes: new Uint8Array(11), stat: await adapter.stat(path) }
      },
      stat: adapter.stat.bind(adapter),
      close: adapter.close.bind(adapter),
    })
    const workspace = await createWorkspace({ mounts: [{ at: '/', adapter: careless }] })
    expect(await codeOf(workspace.read('/f', { maxBytes: 10 }))).toBe('EFBIG')
    await workspace.read('/f')
    expect(asked).toEqual([10, 256 * 1024 * 1024])
  })
})

describe('`.` and `..` as the last name', () => {
  it.each(['/p/q/..', '/p/q/../', '/p/q/.', '/p/.', '..', '.', '/p/q/../.'])(
    '[PC19] %s is neither deleted nor moved, nor a place to move to',
    async (path) => {
      const { workspace } = await openMemory({ '/workspace': { '/p/q/f': 'x', '/d/e': '' } })
      const given = path.startsWith('/') ? `/workspace${path}` : path
      for (const attempt of [
        workspace.delete(given, { recursive: true }),
        workspace.delete(given, { recursive: true, force: true }),
        workspace.move(given, '/workspace/n'),
        workspace.move('/workspace/d', given, { overwrite: true }),
      ]) {
        expect(await codeOf(attempt)).toBe('EINVAL')
      }
      expect(await paths(workspace.list('/workspace', { recursive: true }))).toEqual(
        ['/d', '/d/e', '/p', '/p/q', '/p/q/f'].map((at) => `/workspace${at}`),
      )
    },
  )
})

describe('bad arguments', () => {
  it('are one clear error each, and change nothing', async () => {
    const { workspace } = await openMemory({ '/': { '/f': 'x' } })
    const attempts: readonly (readonly [string, Promise<unknown>, string])[] = [
      ['a number as path', workspace.read(5 as never), 'EINVAL'],
      ['no path', workspace.read(undefined as never), 'EINVAL'],
      ['NUL', workspace.read('/a\0b'), 'EINVAL'],
      ['a lone surrogate', workspace.read('/\ud800'), 'EINVAL'],
      ['a long name', workspace.write(`/${'x'.repeat(256)}`, ''), 'ENAMETOOLONG'],
      ['a long path', workspace.read('/x'.repeat(3000)), 'ENAMETOOLONG'],
      ['invalid data', workspace.write('/f', 7 as never), 'EINVAL'],
      ['an invalid range', workspace.read('/f', { range: { offset: -1 } }), 'EINVAL'],
      ['an empty target', workspace.createSymlink('/l', ''), 'EINVAL'],
      ['an empty pattern', workspace.search('').next(), 'EINVAL'],
      ['an invalid glob', workspace.search('x', { glob: 5 as never }).next(), 'EINVAL'],
      ['a wrong regex', workspace.search('(', { regex: true }).next(), 'EINVAL'],
      ['an unknown operation', workspace.explain({ operation: 'fly' as never, path: '/' }), 'EINVAL'],
      ['a blank command', workspace.exec('  '), 'EINVAL'],
      ['an empty command', workspace.exec([]), 'EINVAL'],
      ['a command with NUL', workspace.exec('a\0'), 'EINVAL'],
    ]
    for (const [name, attempt, code] of attempts) expect(await codeOf(attempt), name).toBe(code)
    expect(await workspace.readText('/f')).toBe('x')
  })

  it('[RU7] asking for nothing gives nothing: an empty range, no lines, no hits', async () => {
    const { workspace } = await openMemory({ '/': { '/f': 'x\ny\n' }, '/m': { '/g': 'x' } })
    expect((await workspace.read('/f', { range: { offset: 0, length: 0 } })).bytes).toHaveLength(0)
    expect(await workspace.readLines('/f', { limit: 0 })).toMatchObject({ lines: [], offset: 0, nextOffset: 0 })
    expect(await workspace.readLines('/f', { limit: 0, offset: 9 })).toMatchObject({ lines: [], offset: 2 })
    expect(await paths(workspace.search('x', { maxHits: 0 }))).toEqual([])
    expect(await codeOf(workspace.search('x', { maxHits: 0, in: '/none' }).next())).toBe('ENOENT')
    expect(await codeOf(workspace.search('x', { maxHits: 0, glob: '' }).next())).toBe('EINVAL')
  })

  it('errors name the virtual path and hold nothing of the layer below', async () => {
    const broken = new Proxy(createMemoryAdapter(), {
      get(target, key) {
        if (key === 'read')
          return () => Promise.reject(Object.assign(new Error('EIO: /srv/secret/path'), { code: 'EIO' }))
        const value: unknown = Reflect.get(target, key, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
    }) as StorageAdapter
    const workspace = await createWorkspace({ mounts: [{ at: '/workspace', adapter: broken }] })
    const error: unknown = await workspace.read('x').catch((caught: unknown) => caught)
    expect(error).toMatchObject({ code: 'EIO', path: '/workspace/x' })
    expect(JSON.stringify(error) + String(error) + String((error as Error).stack)).not.toContain('/srv')
    expect((error as Error).cause).toBeUndefined()
    expect(String(getNativeCause(error))).toContain('/srv/secret/path')
  })

  it('shows paths safely for terminals', async () => {
    const { workspace } = await openMemory({ '/': {} })
    const error: unknown = await workspace.read('/a\u001b[31m\n\u202eb').catch((caught: unknown) => caught)
    // eslint-disable-next-line no-control-regex -- what must not be there
    expect((error as Error).message).not.toMatch(/[\u0000-\u001f\u202e]/)
  })
})

describe('aborts and versions', () => {
  it('reject with the reason of the signal, before and during', async () => {
    const { workspace } = await openMemory({ '/': { '/f': 'x' } })
    const reason = new Error('enough')
    await expect(workspace.read('/f', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    const controller = new AbortController()
    async function* endless() {
      for (;;) {
        yield new Uint8Array(10)
        controller.abort(reason)
      }
    }
    await expect(workspace.write('/f', endless(), { signal: controller.signal })).rejects.toBe(reason)
    expect(await workspace.readText('/f')).toBe('x')
  })

  it('of 50 writers with the same version exactly one wins', async () => {
    const { workspace } = await openMemory({ '/': { '/f': 'x' } })
    const { version } = await workspace.stat('/f')
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, (_, index) => codeOf(workspace.write('/f', `${index}`, { ifVersion: version }))),
    )
    expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(1)
    expect(outcomes.filter((outcome) => outcome === 'ECONFLICT')).toHaveLength(49)
  })
})

describe('the audit', () => {
  it('tells of every operation: what, where it landed, and what the policy said', async () => {
    const { workspace } = await openMemory({ '/': { '/a/f': 'x' } }, { rules: [rules.deny('/secret')] })
    await workspace.createSymlink('/l', 'a')
    const events: AccessEvent[] = []
    const stop = workspace.on('access', (event) => events.push(event))
    workspace.on('access', () => {
      throw new Error('a broken listener')
    })
    await workspace.read('/l/f')
    await codeOf(workspace.read('/secret/x'))
    await codeOf(workspace.read('/missing'))
    await workspace.move('/a/f', '/a/g')
    for await (const entry of workspace.list('/a')) void entry
    stop()
    await workspace.read('/a/g')
    expect(events).toMatchObject([
      { door: 'files', operation: 'read', path: '/l/f', resolvedPath: '/a/f', outcome: 'allowed' },
      { operation: 'read', path: '/secret/x', outcome: 'denied', code: 'EACCES', rule: 'deny(/secret)' },
      { operation: 'read', path: '/missing', outcome: 'failed', code: 'ENOENT' },
      { operation: 'move', path: '/a/f', destination: '/a/g', outcome: 'allowed' },
      { operation: 'list', path: '/a', outcome: 'allowed' },
    ])
  })
})

describe('a policy of the caller’s own', () => {
  it('is asked for every step', async () => {
    const policy: Policy = {
      decide: ({ path, need }) =>
        need === 'write' && !path.startsWith('/ok')
          ? { effect: 'deny', code: 'EACCES', rule: 'mine', reason: 'is not ok', remedy: 'write to /ok' }
          : { effect: 'allow' },
      subtreeRules: () => [],
    }
    const { workspace } = await openMemory({ '/': { '/f': 'x' } }, { policy })
    await workspace.write('/ok/x', '1')
    await workspace.createSymlink('/ok/l', '/f')
    expect(await codeOf(workspace.write('/ok/l', '2'))).toBe('EACCES')
    expect(await codeOf(workspace.write('/x', '1'))).toBe('EACCES')
    expect(await workspace.readText('/f')).toBe('x')
  })
})
