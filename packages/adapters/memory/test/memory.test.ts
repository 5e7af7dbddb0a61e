import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { paths, WorkspaceError } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import { describe, expect, it } from 'vitest'
import { createMemoryAdapter } from '../src/index.ts'

const text = async (adapter: StorageAdapter, path: string): Promise<string> =>
  new TextDecoder().decode((await adapter.read(paths.parseMount(path))).bytes)

async function names(adapter: StorageAdapter, path = '/'): Promise<string[]> {
  const found: string[] = []
  for await (const entry of adapter.list(paths.parseMount(path), { recursive: true })) found.push(entry.path)
  return found
}

describe('createMemoryAdapter', () => {
  it('[RU7] starts with directories, links, modes and times that it is given', async () => {
    const adapter = createMemoryAdapter({
      files: {
        '/empty/': '',
        '/private/': { mode: 0o700, modifiedAt: 1_000 },
        '/private/key': { content: 'k', mode: 0o600, modifiedAt: 2_000 },
        '/blank': {},
        '/link': { target: 'private/key', modifiedAt: 3_000 },
      },
    })
    expect(await adapter.stat(paths.parseMount('/empty'))).toMatchObject({ type: 'directory', mode: 0o755 })
    expect(await adapter.stat(paths.parseMount('/private'))).toMatchObject({
      type: 'directory',
      mode: 0o700,
      modifiedAt: 1_000,
    })
    expect(await adapter.stat(paths.parseMount('/private/key'))).toMatchObject({
      type: 'file',
      size: 1,
      mode: 0o600,
      modifiedAt: 2_000,
    })
    expect(await adapter.stat(paths.parseMount('/blank'))).toMatchObject({ type: 'file', size: 0 })
    expect(await adapter.stat(paths.parseMount('/link'))).toMatchObject({ type: 'symlink', modifiedAt: 3_000 })
    expect(await adapter.readSymlink?.(paths.parseMount('/link'))).toBe('private/key')
  })

  it.each<[string, Record<string, unknown>, string, RegExp]>([
    ['a directory with content', { '/d/': 'x' }, 'EINVAL', /`files\['\/d\/'\]` must be an empty string/],
    ['a nested object', { '/d': { 'a.txt': 'x' } }, 'EINVAL', /`files\['\/d'\]\.a\.txt` is not an option/],
    ['a nested object in a directory', { '/d/': { a: 'x' } }, 'EINVAL', /`files\['\/d\/'\]\.a` is not an option/],
    ['a link with content', { '/l': { target: 'a', content: 'x' } }, 'EINVAL', /content` is not an option/],
    ['an empty target', { '/l': { target: '' } }, 'EINVAL', /target` must be/],
    ['a mode that is too large', { '/f': { mode: 0o1000 } }, 'EINVAL', /mode` must be permission bits/],
    ['a time that is a date', { '/f': { modifiedAt: new Date() } }, 'EINVAL', /modifiedAt` must be an integer/],
    ['a number', { '/f': 7 }, 'EINVAL', /must be a string, a Uint8Array/],
    ['a file where a directory is', { '/d/': '', '/d': 'x' }, 'EISDIR', /is a directory/],
    ['a directory where a file is', { '/d': 'x', '/d/': '' }, 'EEXIST', /exists already/],
    ['an entry behind a link', { '/l': { target: 'd' }, '/l/x': 'x' }, 'ENOTDIR', /not a directory/],
  ])('[RU7] refuses %s', (_, files, code, says) => {
    const make = (): unknown => createMemoryAdapter({ files: files as never })
    expect(make).toThrow(expect.objectContaining({ code, message: expect.stringMatching(says) }))
  })

  it('takes the times of changes from the clock that it is given', async () => {
    let time = 1_000
    const files = { '/d/': { mode: 0o700 }, '/d/a': 'a', '/old': { content: 'o', modifiedAt: 7 } }
    const adapter = createMemoryAdapter({ files, now: () => time })
    const modifiedAt = async (path: string): Promise<number | undefined> =>
      (await adapter.stat(paths.parseMount(path))).modifiedAt
    const times = (...asked: string[]) => Promise.all(asked.map(modifiedAt))
    expect(await times('/', '/d', '/d/a', '/old')).toEqual([1_000, 1_000, 1_000, 7])

    time = 2_000
    await adapter.write(paths.parseMount('/d/a'), new TextEncoder().encode('b'))
    await adapter.createSymlink?.(paths.parseMount('/l'), 'd')
    expect(await times('/', '/d', '/d/a', '/l')).toEqual([2_000, 1_000, 2_000, 2_000])

    time = 3_000
    await adapter.append?.(paths.parseMount('/old'), new TextEncoder().encode('!'))
    await adapter.move(paths.parseMount('/d/a'), paths.parseMount('/moved'))
    expect(await times('/', '/d', '/moved', '/old')).toEqual([3_000, 3_000, 2_000, 3_000])

    time = 4_000
    await adapter.chmod?.(paths.parseMount('/moved'), 0o600)
    await adapter.copy(paths.parseMount('/d'), paths.parseMount('/copy'), { recursive: true })
    await adapter.delete(paths.parseMount('/old'))
    const scratch = await adapter.createScratch?.()
    expect(await times('/', '/moved', '/copy')).toEqual([4_000, 2_000, 4_000])
    expect((await scratch?.stat(paths.parseMount('/')))?.modifiedAt).toBe(4_000)
  })

  it('[EF3] forks a tree: the two share no later change, and no version', async () => {
    const at = paths.parseMount
    const adapter = createMemoryAdapter({ files: { '/d/a': 'one', '/l': { target: 'd' }, '/d/b': 'two' } })
    const bytes = (data: string) => new TextEncoder().encode(data)
    await adapter.append?.(at('/d/a'), bytes(' and space for more'))
    const before = await adapter.stat(at('/d/a'))
    await using fork = (await adapter.createFork?.()) ?? createMemoryAdapter()
    expect(await names(fork)).toEqual(await names(adapter))
    expect(await fork.stat(at('/d/a'))).toEqual(before)
    await fork.append?.(at('/d/a'), bytes('!'))
    await adapter.append?.(at('/d/a'), bytes('?'))
    await fork.delete(at('/d/b'))
    expect(await text(adapter, '/d/a')).toBe('one and space for more?')
    expect(await text(fork, '/d/a')).toBe('one and space for more!')
    expect(await text(adapter, '/d/b')).toBe('two')
    expect((await fork.stat(at('/d/a'))).version).not.toBe((await adapter.stat(at('/d/a'))).version)
    expect(await fork.readSymlink?.(at('/l'))).toBe('d')
    await adapter.close()
    expect(await text(fork, '/d/a')).toBe('one and space for more!')
  })

  it('[EF3] refuses a directory for a fork, and forks a read-only tree into a writable one', async () => {
    const adapter = createMemoryAdapter({ files: { '/a': 'x' }, readOnly: true })
    await expect(adapter.createFork?.({ directory: '/nowhere' })).rejects.toThrow(WorkspaceError)
    await using fork = (await adapter.createFork?.()) ?? adapter
    await fork.write(paths.parseMount('/a'), new Uint8Array())
    expect([await text(fork, '/a'), await text(adapter, '/a')]).toEqual(['', 'x'])
  })

  it('starts with the files it is given', async () => {
    const adapter = createMemoryAdapter({ files: { '/a/b.txt': 'é', c: new Uint8Array([0, 255]) } })
    expect(await names(adapter)).toEqual(['/a', '/a/b.txt', '/c'])
    expect(await text(adapter, '/a/b.txt')).toBe('é')
    expect((await adapter.read(paths.parseMount('/c'))).bytes).toEqual(new Uint8Array([0, 255]))
  })

  it('[HO6] copies trees that are deeper than the stack, and merges them', async () => {
    const adapter = createMemoryAdapter({ files: { '/t/file': 'x' } })
    const down = '/d'.repeat(2_000)
    for (let moves = 0; moves < 8; moves += 1) {
      await adapter.createDirectory(paths.parseMount(`/u${down}`), { recursive: true })
      await adapter.move(paths.parseMount('/t'), paths.parseMount(`/u${down}/t`))
      await adapter.move(paths.parseMount('/u'), paths.parseMount('/t'))
    }
    await adapter.copy(paths.parseMount('/t'), paths.parseMount('/copy'), { recursive: true })
    await adapter.copy(paths.parseMount('/t'), paths.parseMount('/copy'), { recursive: true, overwrite: true })
    const listed = (path: string) =>
      Array.fromAsync(adapter.list(paths.parseMount(path), { recursive: true }), ({ name }) => name)
    expect(await listed('/copy')).toEqual(await listed('/t'))
    await adapter.delete(paths.parseMount('/t'), { recursive: true })
    expect((await listed('/copy')).length).toBeGreaterThan(16_000)
  })

  it.each([
    ['a file below a file', { '/a': '', '/a/b': '' }, 'ENOTDIR'],
    ['a file over a directory', { '/a/b': '', '/a': '' }, 'EISDIR'],
    ['a path outside', { '../a': '' }, 'EOUTSIDE'],
    ['content of the root', { '/': 'x' }, 'EINVAL'],
  ])('refuses %s', (_, files: Record<string, string>, code) => {
    expect(() => createMemoryAdapter({ files })).toThrow(expect.objectContaining({ code }))
  })

  it('changes nothing when it is read-only', async () => {
    const adapter = createMemoryAdapter({ files: { '/a': 'x' }, readOnly: true })
    await expect(adapter.write(paths.parseMount('/a'), new Uint8Array())).rejects.toMatchObject({ code: 'EROFS' })
    await expect(adapter.delete(paths.parseMount('/none'), { force: true })).rejects.toMatchObject({ code: 'EROFS' })
    expect(await text(adapter, '/a')).toBe('x')
  })

  it('shares no bytes with its callers', async () => {
    const adapter = createMemoryAdapter()
    const given = new Uint8Array([1, 2, 3])
    await adapter.write(paths.parseMount('/a'), given)
    given[0] = 9
    const { bytes } = await adapter.read(paths.parseMount('/a'))
    bytes[1] = 9
    const { bytes: range } = await adapter.read(paths.parseMount('/a'), { range: { offset: 1 } })
    range[0] = 9
    expect((await adapter.read(paths.parseMount('/a'))).bytes).toEqual(new Uint8Array([1, 2, 3]))
  })

  it('reads on from an open stream what was there when it was opened', async () => {
    const content = new Uint8Array(200_000).fill(1)
    const adapter = createMemoryAdapter({ files: { '/a': content } })
    const { stream } = await adapter.readStream(paths.parseMount('/a'))
    const first = await stream.next()
    await adapter.append?.(paths.parseMount('/a'), new Uint8Array(100_000).fill(2))
    await adapter.write(paths.parseMount('/a'), new Uint8Array([3]))
    let sum = first.value?.length ?? 0
    for await (const chunk of stream) {
      expect(chunk.every((byte) => byte === 1)).toBe(true)
      sum += chunk.length
    }
    expect(sum).toBe(content.length)
  })

  it('never uses a version twice, also not for a path that is made anew', async () => {
    const adapter = createMemoryAdapter()
    const seen = new Set<string>()
    for (let round = 0; round < 50; round += 1) {
      seen.add((await adapter.write(paths.parseMount('/a'), new Uint8Array([1]))).version)
      await adapter.delete(paths.parseMount('/a'))
    }
    expect(seen.size).toBe(50)
  })

  it('leaves out of a listing what goes while it runs, moved directories included', async () => {
    const adapter = createMemoryAdapter({ files: { '/a/x/1': '', '/a/x/2': '', '/a/y': '', '/z': '' } })
    const found: string[] = []
    for await (const { path } of adapter.list(paths.parseMount('/'), { recursive: true })) {
      found.push(path)
      if (path === '/a/x/1') await adapter.move(paths.parseMount('/a'), paths.parseMount('/b'))
    }
    expect(found).toEqual(['/a', '/a/x', '/a/x/1', '/z', '/b', '/b/x', '/b/x/1', '/b/x/2', '/b/y'])
  })

  it('copies nothing when a part of a directory cannot be merged', async () => {
    const adapter = createMemoryAdapter({ files: { '/s/a': 'new', '/s/b/c': 'new', '/d/a': 'old', '/d/b': 'old' } })
    const copied = adapter.copy(paths.parseMount('/s'), paths.parseMount('/d'), { recursive: true, overwrite: true })
    await expect(copied).rejects.toMatchObject({ code: 'ENOTDIR', path: '/d/b' })
    expect(await text(adapter, '/d/a')).toBe('old')
  })

  it('copies a directory over the one above it', async () => {
    const adapter = createMemoryAdapter({ files: { '/a/a/x': '1', '/a/y': '2' } })
    await adapter.copy(paths.parseMount('/a/a'), paths.parseMount('/a'), { recursive: true, overwrite: true })
    expect((await names(adapter)).toSorted()).toEqual(['/a', '/a/a', '/a/a/x', '/a/x', '/a/y'])
  })

  it('keeps no user of this process from anything: modes are data', async () => {
    const adapter = createMemoryAdapter()
    await adapter.write(paths.parseMount('/a'), new Uint8Array([1]), { mode: 0 })
    expect((await adapter.stat(paths.parseMount('/a'))).mode).toBe(0)
    expect((await adapter.read(paths.parseMount('/a'))).bytes).toHaveLength(1)
  })

  it('refuses a link that comes while the body of a write is read, instead of following it', async () => {
    const adapter = createMemoryAdapter({ files: { '/secret': 'old' } })
    async function* body(): AsyncGenerator<Uint8Array> {
      await adapter.createSymlink?.(paths.parseMount('/a'), '/secret')
      yield new Uint8Array([1])
    }
    await expect(adapter.write(paths.parseMount('/a'), body())).rejects.toMatchObject({ code: 'EBUSY' })
    expect(await text(adapter, '/secret')).toBe('old')
  })

  it('gives others their turn during a long search', async () => {
    const files = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`/f${i}`, 'x'.repeat(200_000)]))
    const adapter = createMemoryAdapter({ files })
    const controller = new AbortController()
    setImmediate(() => controller.abort(new Error('enough')))
    const hits = adapter.search?.(
      { pattern: '(x+x+)+y', regex: true, in: paths.parseMount('/') },
      { signal: controller.signal },
    )
    await expect(hits?.next()).rejects.toThrow('enough')
  })

  it('costs next to nothing before it is used', () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    collect()
    const before = process.memoryUsage().heapUsed
    const adapters = Array.from({ length: 10_000 }, () => createMemoryAdapter())
    collect()
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(5_000_000)
    expect(adapters).toHaveLength(10_000)
  })
})
