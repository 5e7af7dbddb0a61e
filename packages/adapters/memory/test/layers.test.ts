import { observe, paths, prefix, readOnly } from '@ws/core'
import type { AdapterEvent, StorageAdapter } from '@ws/core/adapter'
import { describe, expect, it } from 'vitest'

import { createMemoryAdapter } from '../src/index.ts'

const bytes = new TextEncoder().encode('x')

async function everything(adapter: StorageAdapter): Promise<string[]> {
  return (await Array.fromAsync(adapter.list(paths.parseMount('/'), { recursive: true })))
    .map(({ path }): string => path)
    .toSorted()
}

describe('prefix on a real store', () => {
  it('[RP12] is ENOWORKSPACE for readers until the first write makes its directory', async () => {
    const inner = createMemoryAdapter()
    const view = prefix(inner, '/a/b')
    for (const read of [
      view.stat(paths.parseMount('/')),
      view.read(paths.parseMount('/x')),
      view.list(paths.parseMount('/')).next(),
      view.move(paths.parseMount('/x'), paths.parseMount('/y')),
    ]) {
      await expect(read).rejects.toMatchObject({ code: 'ENOWORKSPACE', path: '/' })
    }
    expect(await everything(inner)).toEqual([])
    await expect(view.write(paths.parseMount('/sub/x'), bytes)).rejects.toMatchObject({
      code: 'ENOENT',
      path: '/sub/x',
    })
    await view.write(paths.parseMount('/x'), bytes)
    expect(await everything(inner)).toEqual(['/a', '/a/b', '/a/b/x'])
    expect(await everything(view)).toEqual(['/x'])
  })

  it.each<[string, (view: StorageAdapter) => Promise<unknown> | undefined, string[]]>([
    ['write with parents', (view) => view.write(paths.parseMount('/s/x'), bytes, { parents: true }), ['/s', '/s/x']],
    ['append', (view) => view.append?.(paths.parseMount('/x'), bytes), ['/x']],
    ['createDirectory', (view) => view.createDirectory(paths.parseMount('/d')), ['/d']],
    ['createDirectory of the root', (view) => view.createDirectory(paths.parseMount('/')), []],
    [
      'createDirectory of the root with recursive',
      (view) => view.createDirectory(paths.parseMount('/'), { recursive: true }),
      [],
    ],
    ['createSymlink', (view) => view.createSymlink?.(paths.parseMount('/l'), 'x'), ['/l']],
  ])('has its directory made by %s', async (_, run, expected) => {
    const view = prefix(createMemoryAdapter(), '/a/b')
    await run(view)
    expect(await everything(view)).toEqual(expected)
  })

  it('refuses to be where a link leads, for reading and for writing', async () => {
    for (const [link, target] of [
      ['/a', 'real'],
      ['/real/b', '../outside'],
    ] as const) {
      const inner = createMemoryAdapter({
        files: { '/real/keep': '', '/outside/secret': 's', '/real/sub/secret': 's' },
      })
      await inner.createSymlink?.(paths.parseMount(link), target)
      const path = link === '/a' ? '/a/sub' : '/real/b'
      const before = await everything(inner)
      const view = prefix(inner, path)
      const tries = [
        view.stat(paths.parseMount('/')),
        view.stat(paths.parseMount('/secret')),
        view.read(paths.parseMount('/secret')),
        view.list(paths.parseMount('/')).next(),
        view.write(paths.parseMount('/new'), bytes, { parents: true }),
        view.createDirectory(paths.parseMount('/new/deep'), { recursive: true }),
        view.createDirectory(paths.parseMount('/'), { recursive: true }),
        view.delete(paths.parseMount('/secret')),
        view.copy(paths.parseMount('/secret'), paths.parseMount('/copy')),
        view.readSymlink?.(paths.parseMount('/')),
        view.search?.({ pattern: 's', in: paths.parseMount('/') }).next(),
      ]
      for (const attempt of tries) await expect(attempt).rejects.toMatchObject({ code: 'ENOWORKSPACE', path: '/' })
      expect(await everything(inner)).toEqual(before)
    }
  })

  it('cannot be made in a read-only store', async () => {
    const view = prefix(readOnly(createMemoryAdapter()), '/a')
    await expect(view.write(paths.parseMount('/x'), bytes)).rejects.toMatchObject({ code: 'EROFS' })
    await expect(view.stat(paths.parseMount('/x'))).rejects.toMatchObject({ code: 'ENOWORKSPACE' })
  })

  it('[PC18] never reaches a sibling whose name begins alike', async () => {
    const inner = createMemoryAdapter({ files: { '/threads/t1/a': '', '/threads/t12/b': '' } })
    expect(await everything(prefix(inner, '/threads/t1'))).toEqual(['/a'])
  })

  it('shares an adapter with others when told so', async () => {
    const inner = createMemoryAdapter({ files: { '/a/x': '', '/b/y': '' } })
    await prefix(inner, '/a', { shared: true }).close()
    expect(await everything(prefix(inner, '/b', { shared: true }))).toEqual(['/y'])
    await prefix(inner, '/a').close()
    await expect(inner.stat(paths.parseMount('/'))).rejects.toMatchObject({ code: 'ECLOSED' })
  })
})

describe('observe on a real store', () => {
  it('hears of everything once, in order, and of what failed', async () => {
    const events: AdapterEvent[] = []
    const view = observe(createMemoryAdapter({ files: { '/a': 'abc' } }), (event) => events.push(event))
    await view.read(paths.parseMount('/a'), { range: { offset: 1 } })
    await view.copy(paths.parseMount('/a'), paths.parseMount('/b'))
    await expect(view.delete(paths.parseMount('/none'))).rejects.toMatchObject({ code: 'ENOENT' })
    await Array.fromAsync(view.search?.({ pattern: 'b', in: paths.parseMount('/') }) ?? [])
    expect(events.map(({ phase, operation, path }) => `${phase} ${operation} ${path}`)).toEqual([
      'before read /a',
      'after read /a',
      'before copy /a',
      'after copy /a',
      'before delete /none',
      'after delete /none',
      'before search /',
      'after search /',
    ])
    expect(events[1]).toMatchObject({ outcome: 'done', bytes: 2 })
    expect(events[5]).toMatchObject({ outcome: 'failed', code: 'ENOENT' })
  })
})
