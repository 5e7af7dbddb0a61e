import { component, describeWith } from '@ws/test-fixtures'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { codeOf, doors, listed, openSite, treeOf } from './site.ts'

const oddNames = [
  'a b',
  "it's",
  'quo"te',
  '-n',
  'a|b',
  'a:b',
  'new\nline',
  'tab\tbed',
  'näme',
  '日本語',
  '.venv',
  '..x',
  '*',
  '$HOME',
  '`id`',
  ' lead',
  'trail ',
]

for (const door of doors) {
  describeWith(door.components.map(component), `two doors: ${door.name}`, () => {
    const open = (options: Partial<Parameters<typeof openSite>[0]> = {}) =>
      openSite({ root: door.root, executor: door.create(), ...options })

    it('[PC1, PC6] list the same files at the same paths, dotfiles included', async () => {
      await using site = await open({
        files: { '.env.example': 'x', 'src/main.py': 'print(1)', '.config/a': '1' },
        skills: door.kernel,
      })
      const found = (await site.run(`cd ${site.at('')} && find . -mindepth 1 -print0`))
        .split('\0')
        .filter(Boolean)
        .map((path) => path.replace(/^\.\//, ''))
        .sort()
      const api = await listed(site)
      const system = /^(?:bin|dev|etc|lib|lib32|lib64|libx32|proc|run|sbin|sys|usr|tmp|workspace)(?:\/|$)/
      expect(found.filter((path) => !system.test(path))).toEqual(api)
      expect(api).toContain('.env.example')
      const disk = await treeOf(site.directory)
      expect(api.filter((path) => !path.startsWith('.solven/skills/system/'))).toEqual(disk)
    })

    it('[RP4, RP18] ls of the root shows the workspace and nothing of the system', async () => {
      await using site = await open()
      expect((await site.run(`ls -A ${site.at('')}`)).trim().split('\n')).toEqual(['file.txt'])
      expect(await treeOf(site.directory)).toEqual(['file.txt'])
    })

    it('[PC5, PC7] what the API writes a command reads at once, byte for byte, and the other way round', async () => {
      await using site = await open()
      const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => (index * 31) % 256)
      await site.workspace.write('data.bin', bytes)
      const sum = (await site.run(`sha256sum < ${site.at('data.bin')}`)).split(' ')[0]
      const digest = Buffer.from(await crypto.subtle.digest('SHA-256', bytes)).toString('hex')
      expect(sum).toBe(digest)
      await site.run(`printf 'a\\0b\\377' > ${site.at('back.bin')}`)
      expect([...(await site.workspace.read('back.bin')).bytes]).toEqual([97, 0, 98, 255])
      await site.run(`echo 'test data' > ${site.at('test.txt')}`)
      expect(await site.workspace.readText(site.at('test.txt'))).toBe('test data\n')
      await site.workspace.write(site.at('api-test.txt'), 'api data')
      expect(await site.run(`cat ${site.at('api-test.txt')}`)).toBe('api data')
    })

    it('[PC5] python and node see what list and read see', async () => {
      await using site = await open({ files: { 'script.py': 'import sys; print(open(sys.argv[1]).read(), end="")' } })
      expect(await site.run(`python3 ${site.at('script.py')} ${site.at('file.txt')}`)).toBe('a file\n')
      await site.workspace.write('x.js', 'console.log(require("fs").readdirSync(process.argv[2]).includes("x.js"))')
      expect(await site.run(`node ${site.at('x.js')} ${site.at('')}`)).toBe('true\n')
    })

    it('[PC8, RP9] commands start in the root; PWD, HOME and USER say so', async () => {
      await using site = await open()
      expect(await site.run('echo "$PWD $(pwd) $HOME $USER"')).toBe(`${door.root} ${door.root} ${door.root} user\n`)
      expect(await site.run('echo "$PWD $HOME $USER"', { login: true })).toBe(`${door.root} ${door.root} user\n`)
    })

    it('[PC12] ls /mnt/r2/ shows nothing through either door', async () => {
      await using site = await open()
      const result = await site.attempt('ls -A /mnt/r2/')
      expect(result.stdout).toBe('')
      expect(result.exitCode).not.toBe(0)
      expect(await codeOf(site.workspace.list('/mnt/r2/').next())).toBe('ENOENT')
    })

    it('[PC19] `..` never reaches a sibling', async () => {
      await using site = await open()
      for (const path of [
        '../t12/secret.txt',
        '/../t12/secret.txt',
        '../../threads/t12/secret.txt',
        `${site.at('')}/../t12/secret.txt`,
      ]) {
        const result = await site.attempt(`cat ${path}`)
        expect(result.stdout, path).not.toContain(site.secret)
        expect(result.exitCode, path).not.toBe(0)
        expect(['EOUTSIDE', 'ENOENT'], path).toContain(await codeOf(site.workspace.read(path)))
      }
    })

    it('[PC12, PC19] links that lead outside lead nowhere, at both doors', async () => {
      await using site = await open()
      await symlink(site.canary, join(site.directory, 'out'))
      await symlink('../t12', join(site.directory, 'sibling'))
      await symlink('file.txt', join(site.directory, 'in'))
      expect((await site.attempt(`cat ${site.at('out')} ${site.at('sibling')}/secret.txt`)).stdout).toBe('')
      expect(await codeOf(site.workspace.read('out'))).toBe('ENOENT')
      expect(await codeOf(site.workspace.read('sibling/secret.txt'))).toBe('ENOENT')
      expect(await site.run(`cat ${site.at('in')}`)).toBe('a file\n')
      expect(await site.workspace.readText('in')).toBe('a file\n')
    })

    it('[PC20, PC21] odd names survive at both doors', async () => {
      await using site = await open()
      for (const name of oddNames) await site.workspace.write(`odd/${name}`, name)
      const seen = (await site.run(`cd ${site.at('odd')} && find . -type f -print0`)).split('\0').filter(Boolean)
      expect(seen.map((path) => path.slice(2)).sort()).toEqual([...oddNames].sort())
      for (const name of oddNames) {
        const result = await site.workspace.exec(['cat', '--', site.at(`odd/${name}`)], { login: false })
        expect(result.stdout, name).toBe(name)
      }
      await site.workspace.write('list', oddNames.map((name) => `made/${name}`).join('\0'))
      await site.run(`mkdir ${site.at('made')} && cd ${site.at('')} && xargs -0 touch -- < list`)
      expect((await listed(site, 'made')).map((path) => path.slice(5))).toEqual([...oddNames].sort())
    })

    it('[PC24] large writes never travel through argv', async () => {
      await using site = await open()
      const text = 'x'.repeat(3_000_000)
      await site.workspace.write('big.txt', text)
      expect((await site.run(`wc -c < ${site.at('big.txt')}`)).trim()).toBe('3000000')
      const long = `echo ${'y'.repeat(300_000)} | wc -c`
      expect((await site.run(long)).trim()).toBe('300001')
    })

    it('[RP20] /tmp is the workspace’s own, the same at both doors, and not listed in /', async () => {
      await using site = await open()
      await using other = await open()
      await site.workspace.write('/tmp/a.txt', 'mine')
      expect(await site.run('cat /tmp/a.txt')).toBe('mine')
      await site.run('echo two > /tmp/b.txt')
      expect(await site.workspace.readText('/tmp/b.txt')).toBe('two\n')
      expect(await other.run('ls -A /tmp')).toBe('')
      expect(await codeOf(other.workspace.read('/tmp/a.txt'))).toBe('ENOENT')
      const names: string[] = []
      for await (const entry of site.workspace.list('/')) names.push(entry.name)
      expect(names).not.toContain('tmp')
    })

    it('[PC3] relative paths, `.`, `//` and trailing slashes mean the same at both doors', async () => {
      await using site = await open({ files: { 'dir/x': 'x' } })
      expect(await site.workspace.readText('.//dir///x')).toBe('x')
      expect(await site.run('cat .//dir///x')).toBe('x')
      expect((await site.workspace.stat('dir/')).type).toBe('directory')
      expect(await codeOf(site.workspace.read('file.txt/'))).toBe('ENOTDIR')
      expect((await site.attempt('cat file.txt/')).stderr).toContain('Not a directory')
    })

    if (door.root === '/') {
      it('the alias /workspace is the root, at both doors', async () => {
        await using site = await open()
        expect(await site.workspace.readText('/workspace/file.txt')).toBe('a file\n')
        expect(await site.run('cat /workspace/file.txt')).toBe('a file\n')
        await site.run('echo new > /workspace/new.txt')
        expect(await site.workspace.readText('/new.txt')).toBe('new\n')
        expect(await codeOf(site.workspace.read('/workspace/../escape'))).toBe('EOUTSIDE')
        expect(await treeOf(site.directory)).toEqual(['file.txt', 'new.txt'])
      })
    } else {
      it('the root above the mount is synthetic and read-only, at both doors', async () => {
        await using site = await open()
        expect(await codeOf(site.workspace.write('/x', ''))).toBe('EROFS')
        const result = await site.attempt('echo x > /x')
        expect(result.exitCode).not.toBe(0)
        expect(result.stderr).toMatch(/Read-only file system|Permission denied/)
      })
    }
  })
}

describe('without an executor', () => {
  it('[PC13] commands are refused with what to do, and never run otherwise', async () => {
    await using site = await openSite({ root: '/' })
    await expect(site.workspace.exec('true')).rejects.toThrow(/ENOEXECUTOR.*executors/s)
  })
})
