import { rules } from '@ws/core'
import { codeOf } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'
import { openMemory, paths } from '../../src/memory-workspace.ts'

describe('links in the virtual namespace', () => {
  it('are followed within a mount, relative and absolute ones', async () => {
    const { workspace } = await openMemory({ '/': { '/a/b/file': 'x' } })
    await workspace.createSymlink('/relative', 'a/b')
    await workspace.createSymlink('/a/absolute', '/a/b/file')
    await workspace.createSymlink('/a/b/up', '../b/file')
    expect(await workspace.readText('/relative/file')).toBe('x')
    expect(await workspace.readText('/a/absolute')).toBe('x')
    expect(await workspace.readText('/relative/up')).toBe('x')
    expect(await paths(workspace.list('/relative'))).toEqual(['/a/b/file', '/a/b/up'])
  })

  it('cross mounts, and an absolute target is virtual-absolute', async () => {
    const { workspace } = await openMemory({ '/workspace': { '/x': '1' }, '/skills': { '/s.md': 'skill' } })
    await workspace.createSymlink('/workspace/link', '/skills/s.md')
    await workspace.createSymlink('/workspace/up', '../skills')
    await workspace.createSymlink('/workspace/above', '../../../../skills/s.md')
    expect(await workspace.readText('link')).toBe('skill')
    expect(await workspace.readText('up/s.md')).toBe('skill')
    expect(await workspace.readText('above')).toBe('skill')
    await workspace.write('up/new', 'n')
    expect(await workspace.readText('/skills/new')).toBe('n')
  })

  it('never leave the workspace', async () => {
    const { workspace } = await openMemory({ '/': { '/x': '1' } })
    await workspace.createSymlink('/out', '/etc/passwd')
    await workspace.createSymlink('/host', '../../../../etc/hosts')
    expect(await codeOf(workspace.read('/out'))).toBe('ENOENT')
    expect(await codeOf(workspace.read('/host'))).toBe('ENOENT')
    expect(await codeOf(workspace.write('/out', 'x'))).toBe('ENOENT')
  })

  it('a chain that is too long, or a circle, is ELOOP', async () => {
    const { workspace } = await openMemory({ '/': {} })
    await workspace.createSymlink('/a', 'b')
    await workspace.createSymlink('/b', 'a')
    expect(await codeOf(workspace.read('/a'))).toBe('ELOOP')
    expect(await codeOf(workspace.write('/a/x', ''))).toBe('ELOOP')
    await workspace.write('/end', 'x')
    for (let index = 0; index < 41; index += 1)
      await workspace.createSymlink(`/l${index}`, index === 0 ? 'end' : `l${index - 1}`)
    expect(await workspace.readText('/l39')).toBe('x')
    expect(await codeOf(workspace.read('/l40'))).toBe('ELOOP')
  })

  it('stat, delete, move and readSymlink act on the link itself; copy copies it', async () => {
    const { workspace } = await openMemory({ '/': { '/target': 'x' } })
    await workspace.createSymlink('/link', 'target')
    expect((await workspace.stat('/link')).type).toBe('symlink')
    expect(await workspace.readSymlink('/link')).toBe('target')
    await workspace.copy('/link', '/copied')
    await workspace.move('/link', '/moved')
    expect(await workspace.readSymlink('/copied')).toBe('target')
    await workspace.delete('/moved')
    expect(await workspace.readText('/target')).toBe('x')
    expect(await codeOf(workspace.stat('/link'))).toBe('ENOENT')
  })

  it('an absent write never follows', async () => {
    const { workspace } = await openMemory({ '/': { '/d/x': '1' } })
    await workspace.createSymlink('/dangling', 'd/new')
    expect(await codeOf(workspace.write('/dangling', 'x', { ifVersion: 'absent' }))).toBe('ECONFLICT')
    expect(await workspace.exists('/d/new')).toBe(false)
    await workspace.write('/dangling', 'x')
    expect(await workspace.readText('/d/new')).toBe('x')
  })

  it('[PC19] a target that ends in `/` or `/.` leads to a directory or nowhere', async () => {
    const { workspace } = await openMemory({ '/': { '/c': 'x', '/d/y': '1' } })
    for (const [index, target] of ['c/.', 'c/', '/c/./', './c/.'].entries()) {
      await workspace.createSymlink(`/l${index}`, target)
      await workspace.createSymlink(`/m${index}`, `l${index}`)
      for (const link of [`/l${index}`, `/m${index}`]) {
        expect(await codeOf(workspace.read(link)), `${link} -> ${target}`).toBe('ENOTDIR')
        expect(await codeOf(workspace.write(link, 'new')), `${link} -> ${target}`).toBe('ENOTDIR')
        expect(await codeOf(workspace.append(link, 'new')), `${link} -> ${target}`).toBe('ENOTDIR')
      }
    }
    expect(await workspace.readText('/c')).toBe('x')
    await workspace.createSymlink('/ok', 'd/.')
    expect(await paths(workspace.list('/ok'))).toEqual(['/d/y'])
    expect(await workspace.readText('/ok/y')).toBe('1')
  })

  it('[PC19] no parents are made behind a link that leads nowhere', async () => {
    const { workspace } = await openMemory({ '/': { '/f': 'x', '/there/y': '1' } })
    await workspace.createSymlink('/data', 'srv/data')
    await workspace.createSymlink('/deep', 'srv/file')
    await workspace.createSymlink('/good', 'there')
    const attempts = {
      write: workspace.write('/data/x', '1'),
      deeper: workspace.write('/data/a/b/x', '1'),
      'write through the last one': workspace.write('/deep', '1'),
      append: workspace.append('/data/x', '1'),
      createDirectory: workspace.createDirectory('/data/sub'),
      'createDirectory of the link': workspace.createDirectory('/data'),
      move: workspace.move('/f', '/data/f'),
      copy: workspace.copy('/f', '/data/f'),
    }
    for (const [name, attempt] of Object.entries(attempts)) expect(await codeOf(attempt), name).toBe('ENOENT')
    expect(await workspace.exists('/srv')).toBe(false)
    await workspace.write('/good/a/b/x', '1')
    expect(await workspace.readText('/there/a/b/x')).toBe('1')
    await workspace.createDirectory('/good/c/d')
    await workspace.copy('/f', '/good/e/f')
    expect(await workspace.readText('/there/e/f')).toBe('x')
  })

  it('a trailing slash does not make a link be followed', async () => {
    const { workspace } = await openMemory({ '/': { '/d/x': '1' } })
    await workspace.createSymlink('/link', 'd')
    expect(await codeOf(workspace.delete('/link/', { recursive: true }))).toBe('ENOTDIR')
    expect(await codeOf(workspace.stat('/link/'))).toBe('ENOTDIR')
    expect(await workspace.readText('/d/x')).toBe('1')
  })

  it('the policy decides on where an operation lands', async () => {
    const { workspace } = await openMemory(
      { '/': { '/out/x': '1', '/secret/key': 'k' } },
      {
        rules: [rules.withinOutput('/out'), rules.deny('/secret'), rules.allow('/links', { justification: 'test' })],
      },
    )
    await workspace.createDirectory('/links')
    await workspace.createSymlink('/links/secret', '/secret')
    await workspace.createSymlink('/links/out', '/out')
    await workspace.createSymlink('/out/away', '/notes.txt')
    expect(await codeOf(workspace.read('/links/secret/key'))).toBe('EACCES')
    expect(await codeOf(workspace.list('/links/secret').next())).toBe('EACCES')
    expect(await codeOf(workspace.search('k', { in: '/links/secret' }).next())).toBe('EACCES')
    expect(await codeOf(workspace.write('/out/away', 'x'))).toBe('EACCES')
    expect((await workspace.explain({ operation: 'read', path: '/links/secret/key' })).effect).toBe('deny')
    await workspace.write('/links/out/y', '2')
    expect(await workspace.readText('/out/y')).toBe('2')
  })

  it('a body is not consumed before the link has been resolved', async () => {
    const { workspace } = await openMemory({ '/': { '/d/x': '1' } })
    await workspace.createSymlink('/link', 'd/new')
    let started = 0
    await workspace.write('/link', {
      async *[Symbol.asyncIterator]() {
        started += 1
        yield new TextEncoder().encode('streamed')
      },
    })
    expect(started).toBe(1)
    expect(await workspace.readText('/d/new')).toBe('streamed')
  })
})

describe('`..`', () => {
  it('needs a directory before it, and follows links as the kernel does', async () => {
    const { workspace } = await openMemory({ '/': { '/a/b/file': 'deep', '/file': 'top', '/a/file': 'middle' } })
    await workspace.createSymlink('/link', 'a/b')
    expect(await workspace.readText('/link/../file')).toBe('middle')
    expect(await workspace.readText('/a/../file')).toBe('top')
    expect(await codeOf(workspace.read('/file/../file'))).toBe('ENOTDIR')
    expect(await codeOf(workspace.read('/missing/../file'))).toBe('ENOENT')
  })

  it('[PC19, FS13] never climbs above the root', async () => {
    const { workspace } = await openMemory({ '/': { '/x': '1' } })
    for (const path of ['..', '/..', '/../x', 'a/../../x', '/workspace/../escape', 'workspace/../../x']) {
      expect(await codeOf(workspace.read(path)), path).toBe('EOUTSIDE')
    }
  })

  it('asks the policy for each step', async () => {
    const { workspace } = await openMemory(
      { '/': { '/secret/d/x': '1', '/file': 'f' } },
      { rules: [rules.deny('/secret')] },
    )
    expect(await codeOf(workspace.read('/secret/d/../../file'))).toBe('EACCES')
  })
})

describe('aliases', () => {
  it('[FS13] take one exact leading segment off, once', async () => {
    const { workspace } = await openMemory({ '/': { '/x': 'x', '/workspaces/y': 'y', '/workspace_backup/z': 'z' } })
    expect(await workspace.readText('/workspace/x')).toBe('x')
    expect(await workspace.readText('workspace/x')).toBe('x')
    expect(await workspace.readText('/workspaces/y')).toBe('y')
    expect(await workspace.readText('/workspace_backup/z')).toBe('z')
    expect(await codeOf(workspace.read('/workspace/workspace/x'))).toBe('ENOENT')
    expect((await workspace.stat('/workspace')).type).toBe('directory')
    expect(await codeOf(workspace.write('/workspace/workspace', 'x'))).toBe('EBUSY')
  })
})
