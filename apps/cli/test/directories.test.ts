import { readFile, readdir, readlink, symlink } from 'node:fs/promises'
import { join } from 'node:path'

import { describe, expect, it } from 'vitest'

import { createProject, giveToOwner, ws } from './ws.ts'

describe('ws ls -a', () => {
  it('lists what ls lists: dotfiles are never left out', async () => {
    await using project = await createProject({ '.hidden': '', 'a.txt': '' })
    const root = ['--root', project.path]
    for (const flag of ['-a', '--all']) {
      expect(await ws([...root, 'ls', flag])).toMatchObject({ code: 0, stdout: '.hidden\na.txt\n' })
    }
    expect((await ws([...root, 'ls', '-la'])).stdout).toMatch(/\.hidden$/mu)
  })
})

describe('ws stat', () => {
  it('shows a file, a directory and a link itself, and goes on after an error', async () => {
    await using project = await createProject({ 'a.txt': 'four', 'd/x': '' })
    await symlink('a.txt', join(project.path, 'link'))
    await giveToOwner(project)
    const { code, stdout, stderr } = await ws([
      '--root',
      project.path,
      'stat',
      '/workspace/a.txt',
      'missing',
      '/workspace/d',
      '/workspace/link',
    ])
    expect(code).toBe(1)
    expect(stderr).toMatch(/^ws: ENOENT: stat: `\/workspace\/missing` [^\n]+\n$/u)
    expect(stdout).toMatch(
      /^path +\/workspace\/a\.txt\ntype +file\nsize +4 bytes\nmodified +\d{4}-.*\nmode +0644\nversion +\S+$/mu,
    )
    expect(stdout).toMatch(/^path +\/workspace\/d\ntype +directory\nmodified/mu)
    expect(stdout).toMatch(/^path +\/workspace\/link\ntype +symlink\ntarget +a\.txt$/mu)
  })

  it('is one JSON value a line, whose version write takes', async () => {
    await using project = await createProject({ 'a.txt': 'four' })
    const root = ['--root', project.path]
    const found = JSON.parse((await ws([...root, '--json', 'stat', 'a.txt'])).stdout) as { version: string }
    expect(found).toMatchObject({ path: 'a.txt', type: 'file', size: 4 })
    expect((await ws([...root, 'write', '--if-version', found.version, 'a.txt', 'new'])).code).toBe(0)
    expect((await ws([...root, 'write', '--if-version', found.version, 'a.txt', 'lost'])).code).toBe(1)
  })
})

describe('ws mkdir', () => {
  it('makes one directory, and with -p its parents', async () => {
    await using project = await createProject({})
    const root = ['--root', project.path]
    expect(await ws([...root, 'mkdir', '/workspace/a', 'b'])).toMatchObject({ code: 0, stdout: '', stderr: '' })
    expect((await ws([...root, 'mkdir', '/workspace/a'])).stderr).toMatch(/^ws: EEXIST/u)
    expect((await ws([...root, 'mkdir', '/workspace/x/y'])).stderr).toMatch(/^ws: ENOENT/u)
    expect((await ws([...root, 'mkdir', '-p', '/workspace/a', '/workspace/x/y'])).code).toBe(0)
    expect((await readdir(project.path, { recursive: true })).toSorted()).toEqual(['a', 'b', 'x', 'x/y'])
  })
})

describe('ws cp', () => {
  it('copies a file, keeps what is there, and copies a directory with -r', async () => {
    await using project = await createProject({ 'a.txt': 'a', 'b.txt': 'b', 'd/x': 'x', 'd/e/y': 'y' })
    await symlink('x', join(project.path, 'd/l'))
    await giveToOwner(project)
    const root = ['--root', project.path]
    expect(await ws([...root, 'cp', '/workspace/a.txt', '/workspace/new/c.txt'])).toMatchObject({
      code: 0,
      stdout: '',
      stderr: '',
    })
    expect(await readFile(join(project.path, 'new/c.txt'), 'utf8')).toBe('a')
    expect((await ws([...root, 'cp', 'a.txt', 'b.txt'])).stderr).toMatch(/^ws: EEXIST/u)
    expect((await ws([...root, 'cp', '-f', 'a.txt', 'b.txt'])).code).toBe(0)
    expect(await readFile(join(project.path, 'b.txt'), 'utf8')).toBe('a')
    expect((await ws([...root, 'cp', 'd', 'copy'])).stderr).toMatch(/^ws: EISDIR/u)
    expect((await ws([...root, 'cp', '-r', 'd', 'copy'])).code).toBe(0)
    expect((await readdir(join(project.path, 'copy'), { recursive: true })).toSorted()).toEqual(['e', 'e/y', 'l', 'x'])
    expect(await readlink(join(project.path, 'copy/l'))).toBe('x')
  })
})
