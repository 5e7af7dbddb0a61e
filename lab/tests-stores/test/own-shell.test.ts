/** @module-tag all */
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createS3Adapter } from '@ws/adapter-s3'
import { createWorkspace, rules } from '@ws/core'
import type { Workspace } from '@ws/core'
import type { Entry, StorageAdapter } from '@ws/core/adapter'
import { createBashCommands, createBashFileSystem } from '@ws/executor-virtual/just-bash'
import { describeWith } from '@ws/test-fixtures'
import { s3Needs, sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { Bash } from 'just-bash'
import { describe, expect, it, onTestFinished } from 'vitest'

import { openFiles, openSite, project, protectDocs, sites } from '@ws/tests-support/bridges'

for (const site of sites) {
  describeWith(site.needs, `the file system on ${site.name}`, () => {
    it('[PC7] shows a shell of your own the files of the workspace', async () => {
      const workspace = await openSite(site, project)
      const bash = new Bash({ fs: createBashFileSystem(workspace), cwd: workspace.root })
      const { stdout, stderr, exitCode } = await bash.exec('cat src/answer.txt; ls; echo new >src/new.txt; sh test.sh')
      expect({ stdout, stderr, exitCode }).toEqual({
        stdout: 'answer=41\ndocs\nsrc\ntest.sh\n1 failed\n',
        stderr: '',
        exitCode: 1,
      })
      expect(await workspace.readText('src/new.txt')).toBe('new\n')
    })

    it('does what the interface asks for', async () => {
      const workspace = await openSite(site)
      const fs = createBashFileSystem(workspace)
      const at = (path: string): string => (workspace.root === '/' ? path : `${workspace.root}${path}`)
      await fs.mkdir(at('/a/b'), { recursive: true })
      await expect(fs.mkdir(at('/a'))).rejects.toThrow(/^EEXIST/u)
      await expect(fs.mkdir(at('/x/y'))).rejects.toThrow(/^ENOENT/u)
      await expect(fs.writeFile(at('/none/f'), '')).rejects.toThrow(/^ENOENT/u)
      await fs.writeFile(at('/a/f'), 'one\n')
      await fs.appendFile(at('/a/f'), Buffer.from('two\n'))
      expect(await fs.readFile(at('/a/f'))).toBe('one\ntwo\n')
      expect([...(await fs.readFileBuffer(at('/a/f')))].length).toBe(8)
      await fs.symlink('f', at('/a/l'))
      expect(await fs.readlink(at('/a/l'))).toBe('f')
      expect((await fs.lstat(at('/a/l'))).isSymbolicLink).toBe(true)
      expect(await fs.stat(at('/a/l'))).toMatchObject({ isFile: true, size: 8 })
      expect(await fs.realpath(at('/a/l'))).toBe(at('/a/f'))
      await fs.chmod(at('/a/f'), 0o600)
      expect((await fs.stat(at('/a/f'))).mode & 0o777).toBe(0o600)
      await fs.utimes(at('/a/f'), new Date(0), new Date('2020-01-02T03:04:05Z'))
      expect((await fs.stat(at('/a/f'))).mtime.toISOString()).toBe('2020-01-02T03:04:05.000Z')
      await fs.symlink('loop', at('/loop'))
      for (const [path, code] of [
        [at('/a/f/below'), 'ENOTDIR'],
        [at('/loop'), 'ELOOP'],
      ] as const) {
        await expect(fs.chmod(path, 0o600)).rejects.toMatchObject({ code })
        await expect(fs.utimes(path, new Date(0), new Date(0))).rejects.toMatchObject({ code })
      }
      await fs.rm(at('/loop'))
      await fs.cp(at('/a'), at('/c'), { recursive: true })
      await expect(fs.cp(at('/a'), at('/d'))).rejects.toThrow(/^EISDIR/u)
      await fs.mv(at('/c/f'), at('/c/g'))
      expect(await fs.readdir(at('/c'))).toEqual(['b', 'g', 'l'])
      expect(await fs.readdirWithFileTypes?.(at('/a'))).toMatchObject([
        { name: 'b', isDirectory: true },
        { name: 'f', isFile: true },
        { name: 'l', isSymbolicLink: true },
      ])
      await expect(fs.rm(at('/c'))).rejects.toThrow(/^ENOTEMPTY/u)
      await fs.rm(at('/c'), { recursive: true })
      await fs.rm(at('/c'), { force: true })
      await expect(fs.rm(at('/c'))).rejects.toThrow(/^ENOENT/u)
      await expect(fs.link(at('/a/f'), at('/a/h'))).rejects.toThrow(/^ENOTSUP/u)
      await expect(fs.chmod(at('/none'), 0o600)).rejects.toThrow(/^ENOENT/u)
      expect([await fs.exists(at('/a')), await fs.exists(at('/c'))]).toEqual([true, false])
      expect(fs.resolvePath(at('/a'), 'b/./c')).toBe(at('/a/b/c'))
    })

    it('holds the rules, and makes nothing up', async () => {
      const options = { rules: [protectDocs, rules.deny('src/answer.txt')] }
      const workspace = await openSite(site, project, options)
      const fs = createBashFileSystem(workspace)
      const bash = new Bash({ fs, cwd: workspace.root })
      const { stderr, exitCode } = await bash.exec('cat src/answer.txt')
      expect([stderr.includes('answer.txt'), exitCode]).toEqual([true, 1])
      // just-bash throws the faults of a redirection
      await expect(bash.exec('echo x >docs/new.md')).rejects.toThrow(/^EACCES: .* by the rule .*docs.*new\.md'$/u)
      const ours = new Bash({ fs, cwd: workspace.root, customCommands: createBashCommands(fs) })
      for (const line of [
        'cp src/more.txt docs/new.md',
        'split -l 1 src/more.txt docs/new',
        "sed -i 's/a/b/' docs/guide.md",
      ])
        expect((await ours.exec(line)).stderr).toMatch(
          /docs\/\w+(?:\.md)?: Permission denied\n\w+: the rule .* refuses \S*docs\/\w+/u,
        )
      await expect(fs.chmod(`${workspace.root}/docs/guide.md`.replace('//', '/'), 0o777)).rejects.toThrow(
        /^(EACCES|EROFS)/u,
      )
      await expect(fs.readFile('/../../etc/passwd')).rejects.toThrow(/^ENOENT/u)
      expect(await workspace.exists('docs/new.md')).toBe(false)
    })
  })
}

/** Each operation waits for a timer, as a store in another place does. */
function slow(adapter: StorageAdapter): StorageAdapter {
  return new Proxy(adapter, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      if (name === 'list')
        return (...given: unknown[]) => slowly(Reflect.apply(value, target, given) as AsyncIterable<Entry>)
      return async (...given: unknown[]): Promise<unknown> => {
        await new Promise((resolve) => setTimeout(resolve, 2))
        return Reflect.apply(value, target, given)
      }
    },
  })
}

async function* slowly(entries: AsyncIterable<Entry>): AsyncGenerator<Entry, undefined> {
  for await (const entry of entries) {
    await new Promise((resolve) => setTimeout(resolve, 2))
    yield entry
  }
  return undefined
}

async function scriptOver(workspace: Workspace, fs = createBashFileSystem(workspace)) {
  await workspace.write('/a/one.txt', 'one\n')
  await workspace.write('/a/two.txt', 'two\n')
  // with the watch, which is on by default
  const bash = new Bash({ fs, cwd: '/' })
  const script = 'cat a/*.txt; ls a; for i in 1 2 3; do echo $i >>a/three.txt; done; wc -l <a/three.txt'
  const { stdout, stderr, exitCode } = await bash.exec(script)
  return { stdout: stdout.replaceAll(/ +/gu, ''), stderr, exitCode }
}

const expected = { stdout: 'one\ntwo\none.txt\ntwo.txt\n3\n', stderr: '', exitCode: 0 }

describe('just-bash’s watch over scripts', () => {
  it('lets a store that waits work', async () => {
    const adapter = slow(createMemoryAdapter())
    const workspace = await createWorkspace({ mounts: [{ at: '/', adapter }] })
    onTestFinished(() => workspace.close())
    expect(await scriptOver(workspace)).toEqual(expected)
  })

  it('is on: a file system that waits within the script is stopped', async () => {
    const workspace = await createWorkspace({ mounts: [{ at: '/', adapter: createMemoryAdapter() }] })
    onTestFinished(() => workspace.close())
    const fs = createBashFileSystem(workspace)
    const waiting = Object.assign(Object.create(fs) as typeof fs, {
      async lstat(path: string) {
        await new Promise((resolve) => setTimeout(resolve, 2))
        return fs.lstat(path)
      },
    })
    const outcome = await scriptOver(workspace, waiting).catch((error: unknown) => String(error))
    expect(outcome).not.toEqual(expected)
  })
})

describeWith(s3Needs('r2'), 'just-bash’s watch over scripts', () => {
  it('lets S3 work', async () => {
    const server = await sharedS3Server('r2')
    onTestFinished(() => server.close())
    const { endpoint, region, credentials, bucket } = server
    const adapter = await createS3Adapter({ endpoint, region, credentials, bucket, prefix: `just-bash-${process.pid}` })
    const workspace = await createWorkspace({ mounts: [{ at: '/', adapter }] })
    onTestFinished(() => workspace.close().then(() => adapter.close()))
    expect(await scriptOver(workspace)).toEqual(expected)
  })
})

describe('a file system', () => {
  it('refuses options and workspaces that are not valid', async () => {
    const workspace = await openFiles()
    expect(() => createBashFileSystem({} as never)).toThrow(/createWorkspace/u)
    expect(() => createBashFileSystem(workspace, { maxFileBytes: 0 })).toThrow(/maxFileBytes/u)
  })

  it('sees no file above its limit', async () => {
    const fs = createBashFileSystem(await openFiles({ big: 'x'.repeat(100) }), { maxFileBytes: 99 })
    await expect(fs.readFile('/big')).rejects.toThrow(/^EFBIG/u)
  })

  it('leaves a trace of each access', async () => {
    const workspace = await openFiles({ a: 'a' })
    const seen: string[] = []
    workspace.on('access', ({ operation, path }) => seen.push(`${operation} ${path}`))
    await createBashFileSystem(workspace).readFile('/a')
    expect(seen).toContain('read /a')
  })
})
