import { createLocalAdapter } from '@ws/adapter-local'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, prefix, readOnly, rules } from '@ws/core'
import { codeOf, createScratchDirectory } from '@ws/test-fixtures'
import { mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openMemory } from '../../src/index.ts'

const times = { modifiedAt: 1_000_000_000_123 }

describe('chmod and utimes of a workspace', () => {
  it('follow links, and show in stat and in listings', async () => {
    const { workspace } = await openMemory({ '/': { '/dir/a': 'x' } })
    await workspace.createSymlink('/link', 'dir/a')
    await workspace.chmod('/link', 0o700)
    await workspace.utimes('link', times)
    expect(await workspace.stat('/dir/a')).toMatchObject({ mode: 0o700, ...times })
    const [entry] = await Array.fromAsync(workspace.list('dir', { details: true }))
    expect(entry).toMatchObject({ path: '/dir/a', mode: 0o700, ...times })
    expect(await codeOf(workspace.chmod('/dir/a/', 0o600))).toBe('ENOTDIR')
    await workspace.chmod('/dir/', 0o711)
    expect((await workspace.stat('/dir')).mode).toBe(0o711)
  })

  it('need the right to write, at the path and where a link leads', async () => {
    const { workspace } = await openMemory(
      { '/': { '/denied': 'x', '/docs/a': 'x' } },
      { rules: [rules.deny('/denied'), rules.readOnly('/docs')] },
    )
    const before = await workspace.stat('/docs/a')
    await workspace.createSymlink('/to-denied', 'denied')
    await workspace.createSymlink('/to-docs', 'docs/a')
    for (const path of ['/denied', '/to-denied', '/docs/a', '/docs', '/to-docs']) {
      expect(await codeOf(workspace.chmod(path, 0o777))).toBe('EACCES')
      expect(await codeOf(workspace.utimes(path, times))).toBe('EACCES')
    }
    expect(await workspace.stat('/docs/a')).toEqual(before)
    for (const operation of ['chmod', 'utimes'] as const) {
      expect(await workspace.explain({ operation, path: '/docs/a' })).toMatchObject({ effect: 'deny' })
      expect(await workspace.explain({ operation, path: '/other' })).toMatchObject({ effect: 'allow' })
    }
  })

  it('are EROFS in a read-only store and in a read-only mount', async () => {
    const files = { '/a': 'x' }
    await using workspace = await createWorkspace({
      mounts: [
        { at: '/', adapter: createMemoryAdapter() },
        { at: '/store', adapter: readOnly(createMemoryAdapter({ files })) },
        { at: '/mount', adapter: createMemoryAdapter({ files }), access: 'read-only' },
      ],
    })
    for (const path of ['/store/a', '/mount/a']) {
      expect(await codeOf(workspace.chmod(path, 0o777))).toBe('EROFS')
      expect(await codeOf(workspace.utimes(path, times))).toBe('EROFS')
    }
  })

  it('never leave the workspace by a link', async () => {
    await using scratch = await createScratchDirectory()
    const directory = scratch.path
    await writeFile(join(directory, 'secret'), 'SECRET', { mode: 0o600 })
    await mkdir(join(directory, 'root'))
    await symlink(join(directory, 'secret'), join(directory, 'root/out'))
    const before = await stat(join(directory, 'secret'))
    await using workspace = await createWorkspace({
      mounts: [{ at: '/', adapter: await createLocalAdapter({ root: join(directory, 'root') }) }],
    })
    expect(await codeOf(workspace.chmod('/out', 0o777))).toBe('ENOENT')
    expect(await codeOf(workspace.utimes('/out', times))).toBe('ENOENT')
    expect((await stat(join(directory, 'secret'))).mtimeMs).toBe(before.mtimeMs)
    expect((await stat(join(directory, 'secret'))).mode).toBe(before.mode)
    expect(await readFile(join(directory, 'secret'), 'utf8')).toBe('SECRET')
  })

  it('are recorded, and work in a subtree of an adapter', async () => {
    const inner = createMemoryAdapter({ files: { '/sub/a': 'x' } })
    await using workspace = await createWorkspace({ mounts: [{ at: '/', adapter: prefix(inner, '/sub') }] })
    const seen: string[] = []
    workspace.on('access', ({ operation, path }) => seen.push(`${operation} ${path}`))
    await workspace.chmod('/a', 0o600)
    await workspace.utimes('/a', times)
    expect(await workspace.stat('/a')).toMatchObject({ mode: 0o600, ...times })
    expect(await codeOf(workspace.chmod('/', 0o600))).toBe('EBUSY')
    expect(seen).toEqual(expect.arrayContaining(['chmod /a', 'utimes /a']))
  })
})
