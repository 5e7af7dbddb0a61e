import { describe, expect, it } from 'vitest'
import { LinkSignal } from '../../src/adapter.ts'
import { paths, WorkspaceError, prefix, type Stat } from '../../src/index.ts'
import { items, rejection, stub } from './stub.ts'

const stat = (type: Stat['type']): Stat => ({ type, size: 0, version: '1' })
const failure = (code: 'ENOENT' | 'ENOTDIR' | 'EIO', path: string): WorkspaceError =>
  new WorkspaceError({ code, operation: 'stat', path, reason: 'failed' })

describe('prefix', () => {
  it('[PC10] maps paths there, and entries, excludes and events back', async () => {
    let asked: unknown
    const { adapter, calls } = stub({
      list: (_, options) => {
        asked = options?.exclude
        return items([{ path: paths.parseMount('/in/side/a/b'), name: 'b', type: 'file' }])
      },
      move: async () => ({}),
    })
    const view = prefix(adapter, '/in/side')
    const entries = await Array.fromAsync(
      view.list(paths.parseMount('/a'), { exclude: [paths.parseMount('/a/x'), paths.parseMount('/')] }),
    )
    await view.move(paths.parseMount('/a'), paths.parseMount('/b'))
    expect(entries).toEqual([{ path: '/a/b', name: 'b', type: 'file' }])
    expect(asked).toEqual(['/in/side/a/x', '/in/side'])
    expect(calls).toEqual(['list /in/side/a', 'move /in/side/a /in/side/b'])
  })

  it('[PC10] names another place than the whole, and than every other part', () => {
    const { adapter } = stub()
    const named = Object.assign(adapter, { identity: 'store' })
    const identities = [named, prefix(named, '/a'), prefix(named, '/b'), prefix(named, '/')].map((one) => one.identity)
    expect(identities).toEqual(['store', 'store /a', 'store /b', 'store'])
    expect(prefix(stub().adapter, '/a').identity).toBeUndefined()
  })

  it('[PC19] refuses a path that would climb out, before the inner adapter hears of it', async () => {
    const { adapter, calls } = stub()
    const view = prefix(adapter, '/in')
    for (const path of ['/../out', '/a/../../out', 'out', '//', '/a\0']) {
      expect(await rejection(view.stat(path as ReturnType<typeof paths.parseMount>))).toMatchObject({
        code: expect.stringMatching(/EINVAL|EOUTSIDE/),
      })
    }
    expect(calls).toEqual([])
  })

  it('lets nothing of where it lies through in an error', async () => {
    const inner = new WorkspaceError({
      code: 'EIO',
      operation: 'copy',
      path: '/se/cret/a',
      reason: 'conflicts with `/se/cret/b`',
      remedy: 'look at `/se/cret`, then at `/se/cretary`',
      partial: { completed: ['/se/cret/c'], completedCount: 1, failedAt: '/se/cret/d', state: '`/se/cret/c` is there' },
    })
    const { adapter } = stub({ copy: () => Promise.reject(inner) })
    const error = await rejection(prefix(adapter, '/se/cret').copy(paths.parseMount('/a'), paths.parseMount('/b')))
    expect(error).toMatchObject({ code: 'EIO', path: '/a' })
    expect(JSON.stringify(error).replaceAll('/se/cretary', '')).not.toContain('cret')
    expect(error).toMatchObject({
      reason: 'conflicts with `/b`',
      partial: { completed: ['/c'], failedAt: '/d', state: '`/c` is there' },
    })
  })

  it('gives links in the way as the subtree sees them, and refuses one on the way to it', async () => {
    const signal = (path: string): LinkSignal =>
      new LinkSignal({ argument: 'source', at: paths.parseMount(path), target: '/t', rest: 'r' })
    const inside = stub({ move: () => Promise.reject(signal('/in/side/l')) })
    const error = await rejection(
      prefix(inside.adapter, '/in/side').move(paths.parseMount('/l/r'), paths.parseMount('/b')),
    )
    expect(error).toMatchObject({ name: 'LinkSignal', argument: 'source', at: '/l', target: '/t', rest: 'r' })
    for (const path of ['/in', '/in/side']) {
      const above = stub({ stat: () => Promise.reject(signal(path)) })
      const refused = await rejection(prefix(above.adapter, '/in/side').stat(paths.parseMount('/a')))
      expect(refused).toMatchObject({ code: 'ENOWORKSPACE', path: '/' })
      expect(String(refused)).not.toContain('side')
    }
  })

  it.each(['file', 'symlink', 'other'] as const)('is no workspace when a %s is in its place', async (type) => {
    const { adapter, calls } = stub({
      stat: async (path) => (path === '/in' ? stat(type) : Promise.reject(failure('ENOTDIR', path))),
      read: async () => ({ bytes: new Uint8Array([1]), stat: stat('file') }),
      readSymlink: async () => 'secret',
      write: (path) => Promise.reject(failure('ENOTDIR', path)),
    })
    const view = prefix(adapter, '/in')
    const tries = [
      view.stat(paths.parseMount('/')),
      view.stat(paths.parseMount('/a')),
      view.read(paths.parseMount('/')),
      view.readSymlink?.(paths.parseMount('/')),
      view.write(paths.parseMount('/a'), new Uint8Array()),
    ]
    for (const attempt of tries) expect(await rejection(attempt)).toMatchObject({ code: 'ENOWORKSPACE' })
    expect(calls.filter((call) => call.startsWith('createDirectory'))).toEqual([])
  })

  it('[RP12] makes its directory for the first write, with the body untouched until then', async () => {
    let made = false
    let started = 0
    const { adapter, calls } = stub({
      stat: async (path) => (made ? stat('directory') : Promise.reject(failure('ENOENT', path))),
      createDirectory: async () => {
        made = true
      },
      write: async (path, data) => {
        if (!made) throw failure('ENOENT', path)
        for await (const chunk of data as AsyncIterable<Uint8Array>) expect(chunk).toHaveLength(1)
        return { version: '2', size: 1 }
      },
    })
    async function* body(): AsyncGenerator<Uint8Array> {
      started += 1
      yield new Uint8Array(1)
    }
    const view = prefix(adapter, '/in')
    expect(await rejection(view.stat(paths.parseMount('/')))).toMatchObject({ code: 'ENOWORKSPACE' })
    expect(await view.write(paths.parseMount('/a'), body())).toEqual({ version: '2', size: 1 })
    expect(started).toBe(1)
    expect(calls).toContain('createDirectory /in')
  })

  it('leaves the errors of a body as they are: they name paths of elsewhere', async () => {
    const foreign = failure('ENOENT', '/in/elsewhere')
    const { adapter } = stub({
      write: async (_, data) => {
        await Array.fromAsync(data as AsyncIterable<Uint8Array>)
        return { version: '1', size: 0 }
      },
    })
    expect(await rejection(prefix(adapter, '/in').write(paths.parseMount('/a'), items<Uint8Array>([], foreign)))).toBe(
      foreign,
    )
  })

  it.each([
    ['delete', 'EBUSY'],
    ['write', 'EBUSY'],
    ['move', 'EBUSY'],
    ['createSymlink', 'EEXIST'],
  ])('does not let its root go through %s', async (operation, code) => {
    const { adapter, calls } = stub({ createSymlink: async () => undefined })
    const view = prefix(adapter, '/in')
    const run: Record<string, () => Promise<unknown> | undefined> = {
      delete: () => view.delete(paths.parseMount('/'), { recursive: true }),
      write: () => view.write(paths.parseMount('/'), new Uint8Array()),
      move: () => view.move(paths.parseMount('/a'), paths.parseMount('/'), { overwrite: true }),
      createSymlink: () => view.createSymlink?.(paths.parseMount('/'), 'x'),
    }
    expect(await rejection(run[operation]?.())).toMatchObject({ code, path: '/' })
    expect(calls).toEqual([])
  })

  it('has the optional operations of the inner adapter, and no others', () => {
    expect(prefix(stub().adapter, '/in').search).toBeUndefined()
    expect(prefix(stub({ flush: async () => undefined }).adapter, '/in').flush).toBeDefined()
  })

  it('closes the inner adapter with it, unless others use that too', async () => {
    for (const shared of [false, true]) {
      const { adapter, calls } = stub()
      const view = prefix(adapter, '/in', { shared })
      await view.close()
      expect(calls).toEqual(shared ? [] : ['close'])
      expect(await rejection(view.stat(paths.parseMount('/a')))).toMatchObject({ code: 'ECLOSED' })
    }
  })

  it('refuses a prefix that is no path', () => {
    for (const path of ['/a/../b', '../a', '/a\0']) expect(() => prefix(stub().adapter, path)).toThrow(WorkspaceError)
  })
})
