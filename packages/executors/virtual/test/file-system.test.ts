import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, rules } from '@ws/core'
import { Bash, InMemoryFs } from 'just-bash'
import { describe, expect, it } from 'vitest'

import { createBashCommands, createBashFileSystem } from '../src/just-bash.ts'

const open = () =>
  createWorkspace({
    mounts: [
      { at: '/', adapter: () => createMemoryAdapter({ files: { '/a.txt': 'abc', '/d/x': '1', '/no/k': 'K' } }) },
      { at: '/ro', adapter: () => createMemoryAdapter({ files: { '/r': 'r' } }), access: 'read-only' },
    ],
    rules: [rules.deny('/no')],
  })

async function failure(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'done',
    (error: Error) => error.message,
  )
}

describe('createBashFileSystem', () => {
  it('works under a just-bash of the caller’s own', async () => {
    await using workspace = await open()
    const bash = new Bash({ fs: createBashFileSystem(workspace), cwd: '/', defenseInDepth: false })
    expect((await bash.exec('cat a.txt | tr a-z A-Z > b.txt; ls')).stdout).toBe('a.txt\nb.txt\nd\nno\nro\n')
    expect(await workspace.readText('/b.txt')).toBe('ABC')
  })

  it('fails as Node’s fs does', async () => {
    await using workspace = await open()
    const fs = createBashFileSystem(workspace)
    expect(await failure(fs.readFile('/missing'))).toBe("ENOENT: no such file or directory, open '/missing'")
    expect(await failure(fs.readFile('/no/k'))).toBe("EACCES: permission denied by the rule deny(/no), open '/no/k'")
    expect(await failure(fs.writeFile('/ro/r', 'x'))).toBe(
      "EROFS: read-only file system by the rule mount:/ro, open '/ro/r'",
    )
    expect(await failure(fs.readFile('/d'))).toMatch(/^EISDIR/)
    expect(await failure(fs.readFile('/a.txt/x'))).toMatch(/^ENOTDIR/)
    expect(await failure(fs.stat('/a.txt/'))).toMatch(/^ENOTDIR/)
    expect(await failure(fs.mkdir('/d'))).toMatch(/^EEXIST/)
    expect(await failure(fs.mkdir('/m/n'))).toMatch(/^ENOENT/)
    expect(await failure(fs.rm('/d'))).toMatch(/^ENOTEMPTY/)
    expect(await failure(fs.rm('/ro', { recursive: true }))).toMatch(/^(?:EBUSY|EROFS)/)
    expect(await failure(fs.readdir('/no'))).toMatch(/^EACCES/)
    expect(await failure(fs.readlink('/a.txt'))).toMatch(/^EINVAL/)
    expect(await failure(fs.cp('/d', '/e'))).toMatch(/^EISDIR/)
    expect(await failure(fs.writeFile('/bin/x', ''))).toMatch(/^ENOENT/)
  })

  it('says so where the file door cannot', async () => {
    await using workspace = await open()
    const fs = createBashFileSystem(workspace)
    expect(await failure(fs.link('/a.txt', '/h'))).toMatch(/^ENOTSUP/)
    expect(await failure(fs.chmod('/a.txt', 0o755))).toBe('done')
    expect((await fs.stat('/a.txt')).mode & 0o777).toBe(0o755)
    expect(await failure(fs.chmod('/a.txt', 0o100600))).toBe('done')
    expect((await fs.stat('/a.txt')).mode & 0o777).toBe(0o600)
    expect(await failure(fs.chmod('/a.txt', 0o104600))).toMatch(/^EINVAL/)
    expect(await failure(fs.chmod('/a.txt', 0o644))).toBe('done')
    expect(await failure(fs.utimes('/a.txt', new Date(0), new Date(0)))).toBe('done')
    expect((await fs.stat('/a.txt')).mtime.getTime()).toBe(0)
    expect(await failure(fs.utimes('/a.txt', new Date(), new Date()))).toBe('done')
    expect(await failure(fs.utimes('/ro/r', new Date(), new Date()))).toMatch(/^EROFS/)
    expect(await failure(createBashFileSystem(workspace, { maxFileBytes: 2 }).readFile('/a.txt'))).toMatch(/^EFBIG/)
  })

  it('follows links as the kernel does, and takes `..` where it really is', async () => {
    await using workspace = await open()
    const fs = createBashFileSystem(workspace)
    await fs.mkdir('/d/deep')
    await fs.symlink('d/deep', '/l')
    await fs.symlink('/l/../x', '/to-x')
    await fs.symlink('loop', '/loop')
    expect(await fs.readFile('/l/../x')).toBe('1')
    expect(await fs.readFile('/to-x')).toBe('1')
    expect(await fs.realpath('/to-x')).toBe('/d/x')
    expect(await fs.realpath('/l/../../a.txt')).toBe('/a.txt')
    expect((await fs.lstat('/l')).isSymbolicLink).toBe(true)
    expect((await fs.lstat('/l/')).isDirectory).toBe(true)
    expect((await fs.stat('/l')).isDirectory).toBe(true)
    expect(await failure(fs.readFile('/a.txt/../d/x'))).toMatch(/^ENOTDIR/)
    expect(await failure(fs.readFile('/missing/../a.txt'))).toMatch(/^ENOENT/)
    expect(await failure(fs.stat('/loop'))).toMatch(/^ELOOP/)
    expect(await fs.exists('/loop')).toBe(false)
    expect(fs.resolvePath('/d', '../a.txt')).toBe('/d/../a.txt')
    expect(fs.resolvePath('/', '../../a.txt/')).toBe('/a.txt/')
  })

  it('shows of a denied entry what its directory lists, and nothing else', async () => {
    await using workspace = await open()
    const fs = createBashFileSystem(workspace)
    expect(await fs.stat('/no')).toMatchObject({ isDirectory: true, mode: 0, size: 0 })
    expect(await fs.exists('/no')).toBe(true)
    expect(await fs.exists('/no/k')).toBe(false)
    expect(await failure(fs.stat('/no/k'))).toMatch(/^EACCES/)
  })

  it('copies into and over what is there', async () => {
    await using workspace = await open()
    const fs = createBashFileSystem(workspace)
    await fs.cp('/d', '/e', { recursive: true })
    await fs.writeFile('/d/x', '2')
    await fs.writeFile('/e/y', 'stays')
    await fs.cp('/d', '/e', { recursive: true })
    expect([await fs.readFile('/e/x'), await fs.readFile('/e/y')]).toEqual(['2', 'stays'])
    await fs.symlink('x', '/e/link')
    await fs.cp('/e/link', '/copied')
    expect((await fs.lstat('/copied')).isFile).toBe(true)
    await fs.cp('/a.txt', '/e/link')
    expect(await fs.readFile('/e/x')).toBe('abc')
    await fs.mv('/e/x', '/a.txt')
    expect(await fs.exists('/e/x')).toBe(false)
  })

  it('carries every byte', async () => {
    await using workspace = await open()
    const fs = createBashFileSystem(workspace)
    const bytes = Uint8Array.from({ length: 1000 }, (_, index) => (index * 7) % 256)
    await fs.writeFile('/b', bytes)
    await fs.writeFile('/c', (await fs.readFileBytes?.('/b')) as unknown as string, 'binary')
    await fs.appendFile('/c', bytes)
    expect([...(await workspace.read('/c')).bytes]).toEqual([...bytes, ...bytes])
    expect([...(await fs.readFileBuffer('/b'))]).toEqual([...bytes])
  })
})

describe('createBashCommands', () => {
  const shell = (workspace: Awaited<ReturnType<typeof open>>): Bash => {
    const fs = createBashFileSystem(workspace)
    return new Bash({ fs, cwd: '/', customCommands: createBashCommands(fs), defenseInDepth: false })
  }

  it('[EX1] gives what the real commands give, where those of just-bash differ', async () => {
    await using workspace = await open()
    const bash = shell(workspace)
    const ran = async (script: string): Promise<string> => {
      const { stdout, stderr, exitCode } = await bash.exec(script)
      return `${stdout}${stderr}${exitCode}`
    }
    expect(await ran("printf 'b 2\na 10\n' | sort -k2n | awk '{ printf \"%s;\", $1 }'")).toBe('b;a;0')
    expect(await ran('find d -name x -exec grep -c 1 {} +')).toBe('1\n0')
    expect(await ran('ls d | xargs -n 1 echo got')).toBe('got x\n0')
    expect(await ran('cat no/k')).toBe('cat: no/k: Permission denied\ncat: the rule deny(/no) refuses /no/k\n1')
    expect(await ran('rm -r ro')).toMatch(/^rm: cannot remove 'ro/u)
    expect(await ran('echo x | tee ro/r no/k missing/f b.txt; cat b.txt')).toBe(
      'x\nx\ntee: ro/r: Read-only file system\ntee: no/k: Permission denied\ntee: missing/f: No such file or directory\ntee: the rule mount:/ro refuses /ro/r\ntee: the rule deny(/no) refuses /no/k\n0',
    )
    expect(await ran('echo x | tee ro/r')).toBe(
      'x\ntee: ro/r: Read-only file system\ntee: the rule mount:/ro refuses /ro/r\n1',
    )
    for (const line of ['touch ro/n', 'mkdir ro/n', 'tar cf ro/t a.txt', 'gzip ro/r'])
      expect(await ran(line)).toMatch(/read-only file system/iu)
    for (let round = 0; round < 1001; round++) await bash.fs.writeFile(`/ro/${round}`, '').catch(() => undefined)
    expect(await ran('echo x | tee ro/r')).toContain('Read-only')
  })

  it('refuses other forms with 126 and the way to go on, and the script goes on', async () => {
    await using workspace = await open()
    const { stdout, stderr } = await shell(workspace).exec('sort -R a.txt; echo $?')
    expect(stdout).toBe('126\n')
    expect(stderr).toMatch(/^sort -R: not supported by these commands: use -/u)
  })

  it('wants the file system of a workspace', () => {
    expect(() => createBashCommands(new InMemoryFs())).toThrow(/createBashFileSystem\(workspace\)/u)
  })
})
