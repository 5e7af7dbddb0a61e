import fs from 'node:fs'

import { testAdapter } from '@ws/conformance/vitest'
import { paths } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import { Volume } from 'memfs'
import { Union } from 'unionfs'
import { describe, expect, it, onTestFinished, vi } from 'vitest'

import { createVolumeAdapter, type VolumeFileSystem } from '../src/volume.ts'

testAdapter({
  name: 'a volume of memfs',
  create: () => {
    const volume = new Volume()
    volume.fromJSON({ '/where-it-lies-2/file': 'outside' })
    return {
      adapter: createVolumeAdapter(volume, { root: '/deep/where-it-lies' }),
      removeRoot: async () => volume.rmSync('/deep/where-it-lies', { recursive: true }),
      secrets: ['where-it-lies', 'deep'],
    }
  },
})

describe('through a union', { tags: ['all'] }, () => {
  testAdapter({
    name: 'two volumes of memfs in one of unionfs',
    create: () => {
      const [lower, upper] = [new Volume(), new Volume()]
      // its types are those of another Node
      const union = new Union().use(lower as never).use(upper as never) as unknown as VolumeFileSystem
      return {
        adapter: createVolumeAdapter(union, { root: '/deep/where-it-lies' }),
        removeRoot: async () => upper.rmSync('/deep/where-it-lies', { recursive: true }),
        secrets: ['where-it-lies', 'deep'],
      }
    },
  })
})

const text = async (adapter: StorageAdapter, path: string): Promise<string> =>
  new TextDecoder().decode((await adapter.read(paths.parseMount(path))).bytes)
const bytes = (content: string): Uint8Array => new TextEncoder().encode(content)

describe('a volume and an adapter over it', () => {
  it('[NF1] agree at once, both ways', async () => {
    const volume = Volume.fromJSON({ '/site/a.txt': 'one', '/b.txt': 'outside' })
    const adapter = createVolumeAdapter(volume, { root: '/site' })
    expect(await text(adapter, '/a.txt')).toBe('one')
    volume.writeFileSync('/site/a.txt', 'two')
    volume.symlinkSync('a.txt', '/site/link')
    expect(await text(adapter, '/a.txt')).toBe('two')
    expect(await adapter.readSymlink?.(paths.parseMount('/link'))).toBe('a.txt')
    await adapter.write(paths.parseMount('/d/c.txt'), bytes('three'), {
      parents: true,
      mode: 0o600,
      modifiedAt: 1_700_000_000_123,
    })
    await adapter.move(paths.parseMount('/link'), paths.parseMount('/d/link'))
    expect(volume.toJSON()).toEqual({ '/site/a.txt': 'two', '/site/d/c.txt': 'three', '/b.txt': 'outside' })
    expect(volume.readlinkSync('/site/d/link')).toBe('a.txt')
    const { mode, mtimeMs } = volume.statSync('/site/d/c.txt')
    expect({ mode: mode & 0o777, mtimeMs }).toEqual({ mode: 0o600, mtimeMs: 1_700_000_000_123 })
  })

  it('[NF1] give no two contents one version, whatever the clock says', async () => {
    vi.useFakeTimers({ now: 1_700_000_000_000 })
    onTestFinished(() => void vi.useRealTimers())
    const volume = Volume.fromJSON({ '/a': '000' })
    const adapter = createVolumeAdapter(volume)
    const versions = new Set<string>()
    for (let change = 0; change < 1_000; change++) {
      volume.writeFileSync('/a', String(change).padStart(3, '0'))
      versions.add((await adapter.stat(paths.parseMount('/a'))).version)
    }
    expect(versions.size).toBe(1_000)
  })

  it('[NF1] hold a condition against code that writes the volume while the new content is read', async () => {
    const volume = Volume.fromJSON({ '/a': 'one' })
    const adapter = createVolumeAdapter(volume)
    const { version } = await adapter.stat(paths.parseMount('/a'))
    const body = async function* (): AsyncGenerator<Uint8Array> {
      yield bytes('late')
      volume.writeFileSync('/a', 'two')
    }
    const writing = adapter.write(paths.parseMount('/a'), body(), { ifVersion: version })
    await expect(writing).rejects.toMatchObject({ code: 'ECONFLICT' })
    expect(volume.readFileSync('/a', 'utf8')).toBe('two')
  })

  it('[NF1] wake the watchers of the volume', async () => {
    const volume = Volume.fromJSON({ '/d/a': 'one' })
    const heard: string[] = []
    const watcher = volume.watch('/d', (event, name) => heard.push(`${event} ${String(name)}`))
    onTestFinished(() => watcher.close())
    const adapter = createVolumeAdapter(volume)
    await adapter.write(paths.parseMount('/d/a'), bytes('two'))
    await adapter.write(paths.parseMount('/d/b'), bytes('new'))
    await adapter.delete(paths.parseMount('/d/a'))
    expect(heard).toEqual(expect.arrayContaining(['change a', 'rename b', 'rename a']))
  })

  it('[NF1] say so when the volume is emptied, and go on when its root is back', async () => {
    const volume = Volume.fromJSON({ '/site/a': 'one' })
    const adapter = createVolumeAdapter(volume, { root: '/site' })
    volume.reset()
    for (const attempt of [
      adapter.stat(paths.parseMount('/')),
      adapter.list(paths.parseMount('/')).next(),
      adapter.write(paths.parseMount('/b'), bytes('b')),
    ])
      await expect(attempt).rejects.toMatchObject({ code: 'ENOWORKSPACE', path: '/' })
    volume.mkdirSync('/site')
    await adapter.write(paths.parseMount('/b'), bytes('b'))
    expect(volume.readFileSync('/site/b', 'utf8')).toBe('b')
  })

  it('[NF1] leave out what the volume keeps from readers, and name it', async () => {
    const volume = Volume.fromJSON({ '/closed/x': 'x', '/open/y': 'y', '/key': 'k' })
    volume.chmodSync('/closed', 0)
    volume.chmodSync('/key', 0)
    const adapter = createVolumeAdapter(volume)
    const unreadable: string[] = []
    const options = { recursive: true, details: true, onUnreadable: (path: string) => unreadable.push(path) }
    const found = await Array.fromAsync(adapter.list(paths.parseMount('/'), options))
    expect(found.map(({ path }): string => path)).toEqual(['/closed', '/key', '/open', '/open/y'])
    expect(unreadable).toEqual(['/closed'])
    await expect(adapter.read(paths.parseMount('/key'))).rejects.toMatchObject({ code: 'EACCES', path: '/key' })
  })

  it('[NF1] list a name that no path can hold as unreachable', async () => {
    const volume = Volume.fromJSON({ '/a': 'x' })
    volume.writeFileSync('/b\ud800', 'x')
    volume.mkdirSync(`/${'c'.repeat(300)}/d`, { recursive: true })
    const found = await Array.fromAsync(createVolumeAdapter(volume).list(paths.parseMount('/'), { recursive: true }))
    expect(found.map(({ name, unreachable }) => [name.slice(0, 3), unreachable])).toEqual([
      ['a', undefined],
      ['b\ufffd', true],
      ['ccc', true],
    ])
  })

  it.each<[string, () => unknown, RegExp]>([
    ['the real file system', () => createVolumeAdapter(fs), /a file system in memory/],
    ['a file system that lacks a function', () => createVolumeAdapter({} as Volume), /fs\.lstatSync/],
    ['a root that is no path', () => createVolumeAdapter(new Volume(), { root: '../x' }), /root|path/],
  ])('[NF1] refuse %s', (_, make, says) => {
    const code: unknown = expect.stringMatching(/EINVAL|EOUTSIDE/)
    expect(make).toThrow(expect.objectContaining({ code, message: expect.stringMatching(says) }))
  })
})
