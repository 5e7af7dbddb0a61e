import { createPathMap, joinPath, parseVirtualPath } from '@ws/core'
import type { HostPath, MountPath, StorageAdapter, VirtualPath } from '@ws/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

function hostAdapter(root: string): StorageAdapter {
  return {
    name: 'host',
    capabilities: { readOnly: false },
    hostPath: (path: MountPath) => (path === '/' ? root : root + path) as HostPath,
  } as unknown as StorageAdapter
}

const map = createPathMap([
  { at: '/', adapter: hostAdapter('/mnt/r2/bucket/threads/t1') },
  { at: '/.solven/skills/system', adapter: hostAdapter('/mnt/r2/bucket/skills/system'), access: 'read-only' },
  { at: '/.solven/skills/u1', adapter: hostAdapter('/mnt/r2/bucket/skills/u1'), access: 'read-only' },
  { at: '/.ticket', adapter: hostAdapter('/mnt/r2/bucket/threads/t12') },
])
const at = (path: string): VirtualPath => parseVirtualPath(path)

describe('the mount table', () => {
  it('[PC2] maps the root to the base directory, without a trailing slash', () => {
    expect(map.toHost(at('/'))).toBe('/mnt/r2/bucket/threads/t1')
    expect(map.toHost(at('/file.txt'))).toBe('/mnt/r2/bucket/threads/t1/file.txt')
  })

  it('[PC15] takes a mount point with and without a trailing slash for the same', () => {
    expect(map.toHost(at('/.solven/skills/system/'))).toBe(map.toHost(at('/.solven/skills/system')))
    expect(map.toHost(at('/.ticket/'))).toBe('/mnt/r2/bucket/threads/t12')
  })

  it('[PC18] never takes t1 for t12, in either direction', () => {
    expect(map.fromHost('/mnt/r2/bucket/threads/t12/a' as HostPath)).toBe('/.ticket/a')
    expect(map.fromHost('/mnt/r2/bucket/threads/t123/a' as HostPath)).toBeUndefined()
    expect(map.fromHost('/mnt/r2/bucket/threads/t1/a' as HostPath)).toBe('/a')
    expect(map.resolve(at('/.ticketx/a'))?.mount.at).toBe('/')
  })

  it('[PC4, PC10, PC20, PC21] virtual to host and back is the identity over every mount, whatever the names', () => {
    const odd = fc.constantFrom(
      '.venv',
      '..x',
      '...',
      'a b',
      '-n',
      "it's",
      'a|b',
      'a:b',
      'a\nb',
      'näme',
      '日本',
      'C:',
      'x',
    )
    const mounts = fc.constantFrom('/', '/.solven/skills/system', '/.solven/skills/u1', '/.ticket')
    fc.assert(
      fc.property(mounts, fc.array(odd, { maxLength: 5 }), (mount, names) => {
        const path = joinPath(at(mount), `/${names.join('/')}` as MountPath)
        const host = map.toHost(path)
        expect(host).toBeDefined()
        expect(map.fromHost(host as HostPath)).toBe(path)
      }),
      { seed: 11, numRuns: 500 },
    )
  })

  it('hides what lies below a mount in the adapter around it', () => {
    expect(map.fromHost('/mnt/r2/bucket/threads/t1/.ticket/old' as HostPath)).toBeUndefined()
  })

  it('refuses the same path twice, and what is no path', () => {
    const adapter = hostAdapter('/x')
    expect(() =>
      createPathMap([
        { at: '/a', adapter },
        { at: '/a/', adapter },
      ]),
    ).toThrow(/mounted twice/)
    expect(() => createPathMap([{ at: '/a/../b', adapter }])).toThrow(/EINVAL/)
  })
})
