import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'

import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, rules } from '@ws/core'
import { createScratchDirectory } from '@ws/test-fixtures'
import { pack } from 'tar-stream'
import { describe, expect, it } from 'vitest'

import { createTestWorkspace, diffTrees, file, link, toTree, type Tree } from '../src/index.ts'

const bytes = new Uint8Array([0, 255])
const tree = {
  src: { 'a.ts': 'export {}\n', deep: { 'b.bin': bytes } },
  empty: {},
  'run.sh': file('#!/bin/sh\n', { mode: 0o755 }),
  latest: link('src/deep'),
}

describe('a workspace for tests', () => {
  it('has the files of a nested object, and gives them back', async () => {
    await using site = await createTestWorkspace({ files: tree })
    expect(await toTree(site.workspace)).toEqual({ ...tree, 'run.sh': '#!/bin/sh\n' })
    expect(await toTree(site.store, { in: '/src' })).toEqual(tree.src)
    expect((await site.workspace.stat('/run.sh')).mode).toBe(0o755)
  })

  it('takes names with `/`, and names that mean something to JavaScript', async () => {
    const odd = JSON.parse('{ "__proto__": "p", "constructor": { "__proto__": { "x": "1" } } }') as Tree
    await using site = await createTestWorkspace({ files: { 'a/b.txt': 'b', a: { c: 'c' }, '/d/e/': {}, ...odd } })
    const found = await toTree(site.workspace)
    expect(found).toMatchObject({ a: { 'b.txt': 'b', c: 'c' }, d: { e: {} } })
    expect(Object.keys(found)).toEqual(['__proto__', 'a', 'constructor', 'd'])
    await using other = await createTestWorkspace({ files: odd })
    expect(JSON.stringify(await toTree(other.workspace))).toBe(
      '{"__proto__":"p","constructor":{"__proto__":{"x":"1"}}}',
    )
  })

  it.each<[string, unknown, string, RegExp]>([
    ['a number', { a: { b: 7 } }, 'EINVAL', /`\/a\/b` must be text, bytes/],
    ['a list', { a: [] }, 'EINVAL', /`\/a` must be text/],
    ['a date', { a: new Date() }, 'EINVAL', /`\/a` must be text/],
    ['a file below a file', { a: 'a', 'a/b': 'b' }, 'EINVAL', /`\/a\/b` lies below a file; correct the tree/],
    ['an entry twice', { 'a/b': 'b', a: { b: 'c' } }, 'EINVAL', /`\/a\/b` is given twice/],
    ['a name that leads out', { '../a': 'a' }, 'EOUTSIDE', /climbs above/],
    ['a text', 'a', 'EINVAL', /`tree` must be a nested object of files/],
  ])('refuses %s', async (_, files, code, says) => {
    await expect(createTestWorkspace({ files: files as Tree })).rejects.toMatchObject({
      code,
      message: expect.stringMatching(says),
    })
  })

  it('refuses options that are not known, or of another type', async () => {
    const refuse = (options: object) => expect(createTestWorkspace(options)).rejects
    await refuse({ fils: {} }).toMatchObject({
      code: 'EINVAL',
      message: expect.stringMatching(/`fils` is not an option/),
    })
    await refuse({ tar: 7 }).toMatchObject({ code: 'EINVAL', message: expect.stringMatching(/`tar` must be a path/) })
    await refuse({ directory: '' }).toMatchObject({ code: 'EINVAL' })
    await refuse({ adapter: {} }).toMatchObject({ code: 'EINVAL' })
    expect(() => file(7 as never)).toThrow(expect.objectContaining({ code: 'EINVAL' }))
    expect(() => file('', { mode: 0o1000 })).toThrow(expect.objectContaining({ code: 'EINVAL' }))
    expect(() => link('')).toThrow(expect.objectContaining({ code: 'EINVAL' }))
  })

  it('copies a directory of this machine, with links and permission bits', async () => {
    await using scratch = await createScratchDirectory()
    await mkdir(join(scratch.path, 'd/empty'), { recursive: true })
    await writeFile(join(scratch.path, 'd/run.sh'), 'x', { mode: 0o700 })
    await symlink('/etc/passwd', join(scratch.path, 'l'))
    await using site = await createTestWorkspace({ directory: scratch.path, files: { 'd/more': 'm' } })
    expect(await toTree(site.store)).toEqual({ d: { empty: {}, 'run.sh': 'x', more: 'm' }, l: link('/etc/passwd') })
    expect((await site.workspace.stat('/d/run.sh')).mode).toBe(0o700)
    await expect(createTestWorkspace({ directory: join(scratch.path, 'no') })).rejects.toMatchObject({
      code: 'ENOENT',
      message: expect.not.stringContaining(scratch.path),
    })
  })

  it('unpacks a tar archive, and refuses one that is cut off or leads out', async () => {
    const archive = pack()
    archive.entry({ name: 'd/run.sh', mode: 0o755 }, 'x')
    archive.entry({ name: 'd/l', type: 'symlink', linkname: 'run.sh' })
    archive.entry({ name: './empty/', type: 'directory' })
    archive.finalize()
    const tar = new Uint8Array(await buffer(archive))
    await using site = await createTestWorkspace({ tar })
    expect(await toTree(site.store)).toEqual({ d: { 'run.sh': 'x', l: link('run.sh') }, empty: {} })
    expect((await site.workspace.stat('/d/run.sh')).mode).toBe(0o755)

    await using scratch = await createScratchDirectory()
    await writeFile(join(scratch.path, 'a.tar'), tar)
    await using same = await createTestWorkspace({ tar: join(scratch.path, 'a.tar') })
    expect(diffTrees(await toTree(same.store), await toTree(site.store))).toEqual([])

    await expect(createTestWorkspace({ tar: tar.subarray(0, 513) })).rejects.toMatchObject({ code: 'EINVAL' })
    const hostile = pack()
    hostile.entry({ name: '../out' }, 'x')
    hostile.finalize()
    const outside = createTestWorkspace({ tar: new Uint8Array(await buffer(hostile)) })
    await expect(outside).rejects.toMatchObject({ code: 'EOUTSIDE' })
  })

  it('goes back to the beginning, or to a snapshot, past every rule', async () => {
    await using site = await createTestWorkspace({ files: tree, rules: [rules.readOnly('/src')] })
    const { workspace, store } = site
    site.clock.set(1_000)
    await workspace.write('/out/new.md', 'n')
    const snapshot = await site.snapshot()
    site.clock.set(2_000)
    await workspace.delete('/out', { recursive: true })
    await workspace.write('/out', 'a file now')
    await workspace.delete('/latest')
    await workspace.write('/run.sh', 'other')
    await workspace.createDirectory('/latest')
    await site.reset(snapshot)
    expect(await site.snapshot()).toEqual(snapshot)
    expect((await workspace.stat('/out/new.md')).modifiedAt).toBe(1_000)
    await site.reset()
    expect(await toTree(store)).toEqual({ ...tree, 'run.sh': '#!/bin/sh\n' })
    await site.reset({ only: 'this' })
    expect(await toTree(store)).toEqual({ only: 'this' })
  })

  it('has a clock: that of this machine until it is set', async () => {
    await using site = await createTestWorkspace()
    const before = Date.now()
    await site.workspace.write('/a', 'a')
    expect((await site.workspace.stat('/a')).modifiedAt).toBeGreaterThanOrEqual(before)
    site.clock.set(new Date('2026-01-01T00:00:00Z'))
    site.clock.advance(500)
    await site.workspace.write('/a', 'b')
    expect((await site.workspace.stat('/a')).modifiedAt).toBe(Date.UTC(2026, 0, 1) + 500)
    expect(() => site.clock.set(Number.NaN)).toThrow(expect.objectContaining({ code: 'EINVAL' }))
    expect(() => site.clock.advance(-1)).toThrow(expect.objectContaining({ code: 'EINVAL' }))
  })

  it('stands on another store, which it closes', async () => {
    const adapter = createMemoryAdapter({ files: { '/old': 'o' } })
    const skills = { at: '/skills', adapter: createMemoryAdapter({ files: { '/s.md': 's' } }) }
    const site = await createTestWorkspace({ files: { a: 'a' }, at: '/w', adapter: () => adapter, mounts: [skills] })
    expect(await toTree(site.workspace)).toEqual({ w: { a: 'a' }, skills: { 's.md': 's' } })
    await site.close()
    await expect(adapter.stat('/' as never)).rejects.toMatchObject({ code: 'ECLOSED' })
  })
})

describe('toTree', () => {
  it('shows a workspace as its rules allow', async () => {
    const files = { '/a': 'a', '/secret/key': 'k', '/.env': 'k', '/d/a.pem': 'k', '/.link': { target: 'a' } }
    const adapter = createMemoryAdapter({ files })
    const denied = [rules.deny('/secret'), rules.deny('/.env'), rules.denyGlob('*.pem'), rules.deny('/.link')]
    const workspace = await createWorkspace({ mounts: [{ at: '/', adapter }], rules: denied })
    expect(await toTree(workspace)).toEqual({ a: 'a', d: {}, secret: {} })
    await workspace.close()
  })

  it('fails where the store denies a file', async () => {
    const site = await createTestWorkspace({
      files: { a: 'a' },
      faults: [{ kind: 'error', code: 'EACCES', path: '/a' }],
    })
    await expect(toTree(site.workspace)).rejects.toMatchObject({ code: 'EACCES', rule: undefined })
    await site.close()
  })
})

describe('diffTrees', () => {
  it('names each difference once, and no directory whose entries say it', () => {
    const before = { a: 'a', d: { x: 'x', y: 'y' }, e: {}, l: link('a'), t: 'file', m: file('m', { mode: 0o600 }) }
    const after = { a: 'A', d: { y: 'y' }, n: { z: 'z' }, l: link('d'), t: {}, m: file('m', { mode: 0o644 }) }
    expect(diffTrees(before, after)).toEqual([
      { path: '/a', change: 'changed', before: 'a', after: 'A' },
      { path: '/d/x', change: 'removed', before: 'x' },
      { path: '/e', change: 'removed', before: {} },
      { path: '/l', change: 'changed', before: link('a'), after: link('d') },
      { path: '/m', change: 'changed', before: before.m, after: after.m },
      { path: '/n/z', change: 'added', after: 'z' },
      { path: '/t', change: 'changed', before: 'file', after: {} },
    ])
    expect(diffTrees(before, { ...before, m: 'm' })).toEqual([])
  })
})
