import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { describe, expect, it } from 'vitest'

import { createProject, giveToOwner, ws } from './ws.ts'

describe('ws ls', () => {
  it('[PC6] lists sorted, dotfiles included, and full virtual paths with -R', async () => {
    await using project = await createProject({ 'b.txt': 'b', '.hidden': '', 'a/c.txt': 'c' })
    const root = ['--root', project.path]
    expect((await ws([...root, 'ls'])).stdout).toBe('.hidden\na\nb.txt\n')
    expect((await ws([...root, 'ls', '-R'])).stdout).toBe(
      '/workspace/.hidden\n/workspace/a\n/workspace/a/c.txt\n/workspace/b.txt\n',
    )
    expect((await ws([...root, '--at', '/', 'ls', '-R', 'a'])).stdout).toBe('/a/c.txt\n')
    expect((await ws([...root, 'ls', '/workspace/b.txt'])).stdout).toBe('b.txt\n')
  })

  it('gives types, sizes and link targets with -l', async () => {
    await using project = await createProject({ 'b.txt': 'twelve bytes' })
    await symlink('b.txt', join(project.path, 'link'))
    await giveToOwner(project)
    const { stdout } = await ws(['--root', project.path, 'ls', '-l'])
    expect(stdout).toMatch(/^-rw-r--r--\s+12\s+\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\s+b\.txt$/mu)
    expect(stdout).toMatch(/^l[rwx-]{9}.*link -> b\.txt$/mu)
  })

  it('[HO4] shows a time that no Date holds as unknown, and the others as they are', async () => {
    // the disk of /tmp may hold years of this age only
    await using project = await createProject({})
    const root = await mkdtemp(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'ws-times-'))
    try {
      for (const name of ['known.txt', 'odd.txt', 'old.txt']) await writeFile(join(root, name), 'x\n')
      await utimes(join(root, 'known.txt'), 1, 1)
      await utimes(join(root, 'odd.txt'), 9e12, 9e12)
      await utimes(join(root, 'old.txt'), '-1', '-1')
      await giveToOwner({ ...project, path: root })
      const { stdout, code } = await ws(['--root', root, 'ls', '-l'])
      expect({ code, lines: stdout.trim().split('\n').length }).toEqual({ code: 0, lines: 3 })
      expect(stdout).toMatch(/1970-01-01 00:00:01\s+known\.txt/u)
      expect(stdout).toMatch(/1969-12-31 23:59:59\s+old\.txt/u)
      const found = await ws(['--root', root, 'stat', '/workspace/odd.txt'])
      expect(found).toMatchObject({ code: 0, stdout: expect.stringContaining('2 bytes') })
    } finally {
      await rm(root, { recursive: true })
    }
  })

  it('[PC21] keeps odd names in pipes, with -0 between NULs, and in JSON', async () => {
    await using project = await createProject({ 'new\nline': '', '-rf': '', 'größe \u001b[31m': '' })
    const root = ['--root', project.path]
    expect((await ws([...root, 'ls', '-0'])).stdout).toBe('-rf\0größe \u001b[31m\0new\nline\0')
    const lines = (await ws([...root, '--json', 'ls'])).stdout.trim().split('\n')
    expect(lines.map((line) => (JSON.parse(line) as { name: string }).name)).toEqual([
      '-rf',
      'größe \u001b[31m',
      'new\nline',
    ])
  })
})

describe('ws cat', () => {
  it('[PC7] prints bytes as they are', async () => {
    const bytes = Uint8Array.from({ length: 200_000 }, (_, index) => (index * 7) % 256)
    await using project = await createProject({ 'data.bin': bytes, 'text.txt': 'größe' })
    const result = await ws(['--root', project.path, 'cat', '/workspace/data.bin', 'text.txt'])
    expect(result.bytes.equals(Buffer.concat([bytes, Buffer.from('größe')]))).toBe(true)
    const json = await ws(['--root', project.path, '--json', 'cat', '/workspace/text.txt', '/workspace/data.bin'])
    const [text, binary] = json.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, string>)
    expect(text).toMatchObject({ path: '/workspace/text.txt', encoding: 'utf8', content: 'größe', type: 'file' })
    expect(binary?.['encoding']).toBe('base64')
    expect(Buffer.from(binary?.['content'] ?? '', 'base64').equals(bytes)).toBe(true)
  })

  it('[X2] finds nothing of the host', async () => {
    await using project = await createProject({})
    for (const path of ['/etc/passwd', project.path, '/mnt/r2/x']) {
      const { code, stdout, stderr } = await ws(['--root', project.path, 'cat', path])
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toMatch(/^ws: ENOENT: .*\n$/u)
    }
  })
})

describe('ws write', () => {
  it('[PC24] takes content from an argument or from standard input, and makes directories', async () => {
    await using project = await createProject({})
    const root = ['--root', project.path]
    expect(await ws([...root, 'write', '/workspace/a/b.txt', 'hello'])).toMatchObject({
      code: 0,
      stdout: '',
      stderr: '',
    })
    expect(await readFile(join(project.path, 'a/b.txt'), 'utf8')).toBe('hello')
    const large = Buffer.alloc(3_000_000, 7)
    expect(await ws([...root, 'write', 'large.bin'], { input: large })).toMatchObject({ code: 0, stderr: '' })
    expect((await readFile(join(project.path, 'large.bin'))).equals(large)).toBe(true)
    const { uid } = await stat(join(project.path, 'a/b.txt'))
    expect(uid).toBe(project.owner.uid)
  })

  it('replaces only the version it was given, and with --if-absent nothing', async () => {
    await using project = await createProject({ 'a.txt': 'one' })
    const root = ['--root', project.path, '--json']
    const { version } = JSON.parse((await ws([...root, 'cat', '/workspace/a.txt'])).stdout) as { version: string }
    const first = await ws([...root, 'write', '--if-version', version, '/workspace/a.txt', 'two'])
    expect(first.code).toBe(0)
    expect(JSON.parse(first.stdout)).toMatchObject({ path: '/workspace/a.txt', size: 3 })
    for (const condition of [['--if-version', version], ['--if-absent']]) {
      const { code, stderr } = await ws([...root, 'write', ...condition, '/workspace/a.txt', 'three'])
      expect(code).toBe(1)
      expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'ECONFLICT', path: '/workspace/a.txt' } })
    }
    expect(await readFile(join(project.path, 'a.txt'), 'utf8')).toBe('two')
  })
})

describe('ws rm and ws mv', () => {
  it('remove and move, and goes on after an error', async () => {
    await using project = await createProject({ 'a.txt': 'a', 'd/e.txt': 'e', 'f.txt': 'f' })
    const root = ['--root', project.path]
    const result = await ws([...root, 'rm', '/workspace/a.txt', '/workspace/missing', 'd'])
    expect(result.code).toBe(1)
    expect(result.stderr.trim().split('\n')).toEqual([
      expect.stringMatching(/^ws: ENOENT: delete: `\/workspace\/missing`/u),
      expect.stringMatching(/^ws: ENOTEMPTY: delete: `(?:\/workspace\/)?d`/u),
    ])
    expect(existsSync(join(project.path, 'a.txt'))).toBe(false)
    expect((await ws([...root, 'rm', '-rf', 'd', 'missing'])).code).toBe(0)
    expect(existsSync(join(project.path, 'd'))).toBe(false)
    expect((await ws([...root, 'mv', 'f.txt', '/workspace/new/g.txt'])).code).toBe(0)
    expect(await readFile(join(project.path, 'new/g.txt'), 'utf8')).toBe('f')
  })

  it('[FS11] mv keeps what is there, unless it is told to overwrite', async () => {
    await using project = await createProject({ 'a.txt': 'a', 'b.txt': 'b' })
    const root = ['--root', project.path]
    const refused = await ws([...root, 'mv', 'a.txt', 'b.txt'])
    expect(refused.code).toBe(1)
    expect(refused.stderr).toMatch(/^ws: EEXIST: /u)
    expect(await readFile(join(project.path, 'b.txt'), 'utf8')).toBe('b')
    expect((await ws([...root, 'mv', '--overwrite', 'a.txt', 'b.txt'])).code).toBe(0)
    expect(await readFile(join(project.path, 'b.txt'), 'utf8')).toBe('a')
  })
})

describe('the policy of a config file', () => {
  const config = {
    mounts: [
      { at: '/', root: 'project' },
      { at: '/.solven/skills/system', root: 'skills', access: 'read-only' },
    ],
    rules: [
      { rule: 'deny', path: '/private' },
      { rule: 'withinOutput', path: '/out' },
      { rule: 'allow', path: '/cache', justification: 'a cache of the build' },
    ],
  }

  async function createConfigured() {
    const scratch = await createProject({ 'project/private/key': 'secret', 'project/a.txt': 'a', 'skills/S.md': 's' })
    await mkdir(join(scratch.path, 'project/out'))
    await writeFile(join(scratch.path, 'ws.config.json'), JSON.stringify(config))
    await giveToOwner(scratch)
    return scratch
  }

  it('[PM3] holds for every file command: code, path, rule and remedy on one line, and nothing changes', async () => {
    await using scratch = await createConfigured()
    const at = ['--config', join(scratch.path, 'ws.config.json')]
    const cases: [string[], RegExp][] = [
      [['cat', '/private/key'], /^ws: EACCES: read: `\/private\/key` .*\(rule `deny\(\/private\)`\); .+\n$/u],
      [['ls', '/private'], /^ws: EACCES: .*`\/private`.*\n$/u],
      [
        ['write', '/b.txt', 'b'],
        /^ws: EACCES: write: `\/b.txt` is outside the output root `\/out`.*; write below `\/out`\n$/u,
      ],
      [['mv', '/a.txt', '/out/a.txt'], /^ws: EACCES: move: /u],
      [['rm', '-r', '/private'], /^ws: EACCES: delete: /u],
      [['write', '/.solven/skills/system/S.md', 'x'], /^ws: (EROFS|EACCES): write: /u],
    ]
    for (const [args, error] of cases) {
      const { code, stdout, stderr } = await ws([...at, ...args])
      expect(stderr).toMatch(error)
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).not.toContain(scratch.path)
    }
    expect(existsSync(join(scratch.path, 'project/b.txt'))).toBe(false)
    expect(await readFile(join(scratch.path, 'project/private/key'), 'utf8')).toBe('secret')
    expect((await ws([...at, 'write', '/out/x', 'x'])).code).toBe(0)
    expect((await ws([...at, 'write', '/cache/x', 'x'])).code).toBe(0)
    expect((await ws([...at, 'ls', '-R'])).stdout).toContain('/.solven/skills/system/S.md\n')
  })

  it('[PM5] explain names effect, rule, reason, remedy and exceptions without doing anything', async () => {
    await using scratch = await createConfigured()
    const at = ['--config', join(scratch.path, 'ws.config.json')]
    const denied = await ws([...at, '--json', 'explain', 'write', '/b.txt'])
    expect(denied.code).toBe(0)
    expect(JSON.parse(denied.stdout)).toMatchObject({
      operation: 'write',
      effect: 'deny',
      code: 'EACCES',
      rule: 'withinOutput(/out)',
      remedy: 'write below `/out`',
      enforcedBy: { files: 'interpreter' },
    })
    const allowed = await ws([...at, 'explain', 'write', '/cache/x'])
    expect(allowed.stdout).toMatch(/effect\s+allow/u)
    expect(allowed.stdout).toContain('a cache of the build')
    expect(existsSync(join(scratch.path, 'project/cache'))).toBe(false)
  })
})

describe('the paths of rules in a config file', () => {
  async function read(path: string, ...options: string[]) {
    await using project = await createProject({
      'p/.env': 'secret',
      'ws.config.json': JSON.stringify({ mounts: [{ at: '/', root: 'p' }], rules: [{ rule: 'deny', path }] }),
    })
    return await ws(['--config', join(project.path, 'ws.config.json'), ...options, 'cat', '.env'])
  }

  it('[RU1] may name the alias, and may be relative to the root, wherever that is mounted', async () => {
    const cases: [string, ...string[]][] = [
      ['/workspace/.env'],
      ['/.env'],
      ['.env'],
      ['.env', '--at', '/workspace'],
      ['/workspace/.env', '--at', '/workspace'],
    ]
    for (const given of cases) {
      const { code, stdout, stderr } = await read(...given)
      expect({ code, stdout }, given.join(' ')).toEqual({ code: 1, stdout: '' })
      expect(stderr).toMatch(/^ws: EACCES: read: /u)
    }
  })

  it('[RU10] sets of names and globs are rules too', async () => {
    const list = [{ rule: 'protectSecrets' }, { rule: 'protectHooks' }, { rule: 'denyGlob', glob: '*.key' }]
    await using project = await createProject({
      'p/.env': 'secret',
      'p/a/x.KEY': 'secret',
      'ws.config.json': JSON.stringify({ mounts: [{ at: '/', root: 'p' }], rules: list }),
    })
    const config = ['--config', join(project.path, 'ws.config.json')]
    for (const args of [
      ['cat', '.env'],
      ['cat', 'a/x.KEY'],
      ['write', '.git/config', 'x'],
    ]) {
      expect((await ws([...config, ...args])).stderr, args.join(' ')).toMatch(/^ws: EACCES: /u)
    }
  })

  it('[RU1] are refused with the path that was meant, where `--at` puts them outside', async () => {
    const { code, stdout, stderr } = await read('/.env', '--at', '/workspace')
    expect(stderr).toMatch(/^ws: EINVAL: .*`\/\.env` lies outside every mount.*did you mean `\/workspace\/\.env`\?\n$/u)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  })
})

describe('ws search', () => {
  it('[PC22] [FS14] prints path, line number and line; the pattern is data, and what is denied is left out', async () => {
    await using project = await createProject({
      'a.txt': 'one\n-e (TODO\n',
      'deep/b.txt': 'todo\n',
      'private/c': 'TODO',
    })
    const config = { mounts: [{ at: '/', root: '.' }], rules: [{ rule: 'deny', path: '/private' }] }
    await using scratch = await createProject({ 'ws.config.json': JSON.stringify(config) })
    const options = ['--config', join(scratch.path, 'ws.config.json'), '--root', project.path]
    expect(await ws([...options, 'search', '--', '-e (TODO'])).toMatchObject({ code: 0, stdout: '/a.txt:2:-e (TODO\n' })
    const found = (await ws([...options, '--json', 'search', '-i', '-e', 't.do', '/'])).stdout.trim().split('\n')
    const hits = found.map((line) => JSON.parse(line) as { path: string; line: number })
    expect(hits.map(({ path, line }) => `${path} ${line}`).toSorted()).toEqual(['/a.txt 2', '/deep/b.txt 1'])
    expect(await ws([...options, 'search', 'nowhere'])).toMatchObject({ code: 1, stdout: '', stderr: '' })
    expect(await ws([...options, 'search', '-e', '('])).toMatchObject({ code: 1, stdout: '' })
  })
})
