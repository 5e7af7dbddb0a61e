import { describe, expect, it } from 'vitest'

import { codeOf, places } from './site.ts'

const oddNames = [
  'a b',
  "it's",
  'quo"te',
  '-n',
  'a|b',
  'a:b',
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

for (const { name, root, open } of places) {
  describe(`two doors: ${name}`, () => {
    it('[PC1, PC6] list the same files at the same paths, dotfiles included', async () => {
      await using site = await open({
        files: { '.env.example': 'x', 'src/main.py': '1', '.config/a': '1' },
        skills: true,
      })
      const listed = async (recursive: boolean) =>
        (await Array.fromAsync(site.workspace.list(root, { recursive }))).map(({ path }) => path).sort()
      const found = (await site.run(`find ${site.at('')} -mindepth 1`)).trim().split('\n').sort()
      expect(found.map((path) => path.replace('//', '/'))).toEqual(await listed(true))
      expect(await listed(true)).toContain(site.at('.solven/skills/system/search.md'))
      const names = (await site.run(`ls -A ${site.at('')}`)).trim().split('\n').sort()
      expect(names.map(site.at)).toEqual(await listed(false))
    })

    it('[RP4, RP18] ls of / shows the workspace and nothing of the system', async () => {
      await using site = await open()
      expect(await site.run('ls -A /')).toBe(root === '/' ? 'file.txt\n' : 'workspace\n')
      const names = (await Array.fromAsync(site.workspace.list('/'))).map((entry) => entry.name)
      expect((await site.run('ls -A /')).trim().split('\n')).toEqual(names)
    })

    it('[PC5, PC7] what one door writes the other reads at once, byte for byte', async () => {
      await using site = await open()
      const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => (index * 31) % 256)
      await site.workspace.write('data.bin', bytes)
      const digest = Buffer.from(await crypto.subtle.digest('SHA-256', bytes)).toString('hex')
      expect((await site.run('sha256sum data.bin')).split(' ')[0]).toBe(digest)
      await site.run(
        'cat data.bin > redirected; cp data.bin copied; cat < data.bin | tee teed > /dev/null; gzip -c copied > z.gz; gunzip -c z.gz > back',
      )
      for (const path of ['redirected', 'copied', 'teed', 'back']) {
        expect(Buffer.compare((await site.workspace.read(path)).bytes, bytes), path).toBe(0)
      }
      await site.run(`echo 'tést data' > ${site.at('test.txt')}`)
      expect(await site.workspace.readText(site.at('test.txt'))).toBe('tést data\n')
      await site.workspace.write(site.at('api-test.txt'), 'api däta')
      expect(await site.run(`cat ${site.at('api-test.txt')}`)).toBe('api däta')
    })

    it('[PC8, RP9] commands start in the root; PWD, HOME and USER say so', async () => {
      await using site = await open()
      expect(await site.run('echo "$PWD $(pwd) $HOME $USER"')).toBe(`${root} ${root} ${root} user\n`)
    })

    it('[PC12, PC19] `..` and links lead nowhere outside, at both doors', async () => {
      await using site = await open()
      for (const path of ['../t12/secret', '/../etc/passwd', `${site.at('')}/../../etc/hostname`, '/mnt/r2/']) {
        expect((await site.attempt(`cat ${path}; ls ${path}`)).stdout, path).toBe('')
        expect(['EOUTSIDE', 'ENOENT'], path).toContain(await codeOf(site.workspace.read(path)))
      }
      await site.workspace.createSymlink('out', '/etc/passwd')
      await site.workspace.createSymlink('in', 'file.txt')
      await site.run('ln -s ../../../../etc up')
      expect((await site.attempt('cat out up/passwd')).stdout).toBe('')
      expect(await codeOf(site.workspace.read('out'))).toBe('ENOENT')
      expect(await site.run('cat in; readlink in; readlink up')).toBe('a file\nfile.txt\n../../../../etc\n')
    })

    it('[PC3] `..` through a link, `.`, `//` and trailing slashes mean the same at both doors', async () => {
      await using site = await open({ files: { 'a/b/x': 'bx', 'a/y': 'ay', y: 'root y' } })
      await site.run('ln -s a/b link')
      for (const path of [
        'link/../y',
        './/a///b/x',
        'a/./b/../y',
        'link/x',
        'file.txt/',
        'a/missing/../y',
        'y/../y',
        'link/../b/../y',
      ]) {
        const api = await site.workspace.readText(path).catch((error: { code: string }) => error.code)
        const result = await site.attempt(`cat ${path}`)
        const words = { ENOENT: 'No such file or directory', ENOTDIR: 'Not a directory' }[api]
        if (words === undefined) expect(result.stdout, path).toBe(api)
        else expect(result.stderr.trim(), path).toBe(`cat: ${path}: ${words}`)
      }
      expect(await site.workspace.readText('link/../y')).toBe('ay')
    })

    it('[PC20, PC21] odd names survive at both doors', async () => {
      await using site = await open()
      for (const odd of oddNames) await site.workspace.write(`odd/${odd}`, odd)
      const seen = (await site.run('cd odd && find . -type f -print0')).split('\0').filter(Boolean)
      expect(seen.map((path) => path.slice(2)).sort()).toEqual([...oddNames].sort())
      for (const odd of oddNames) {
        expect((await site.workspace.exec(['cat', '--', site.at(`odd/${odd}`)])).stdout, odd).toBe(odd)
      }
      await site.run(`mkdir made; cd odd; for f in * .v* ..x; do cp -- "$f" "../made/$f"; done`)
      const made = (await Array.fromAsync(site.workspace.list('made'))).map((entry) => entry.name).sort()
      expect(made).toEqual([...oddNames].sort())
    })

    it('[PC24] large files and long lines pass', async () => {
      await using site = await open()
      await site.workspace.write('big.txt', 'x'.repeat(3_000_000))
      expect((await site.run('wc -c < big.txt')).trim()).toBe('3000000')
      expect((await site.run(`echo ${'y'.repeat(300_000)} | wc -c`)).trim()).toBe('300001')
    })

    it('[RP20] /tmp is the workspace’s own, the same at both doors, and not listed in /', async () => {
      await using site = await open()
      await using other = await open()
      await site.workspace.write('/tmp/a.txt', 'mine')
      expect(await site.run('cat /tmp/a.txt; echo two > /tmp/b.txt; ls -A /tmp')).toBe('minea.txt\nb.txt\n')
      expect(await site.workspace.readText('/tmp/b.txt')).toBe('two\n')
      expect(await other.run('ls -A /tmp')).toBe('')
      expect(await site.run('ls -A /')).not.toContain('tmp')
    })

    it(root === '/' ? 'the alias /workspace is the root' : 'the root above the mount cannot be written', async () => {
      await using site = await open()
      if (root === '/') {
        expect(await site.run('cat /workspace/file.txt; echo new > /workspace/new.txt; cat /new.txt')).toBe(
          'a file\nnew\n',
        )
        expect(await codeOf(site.workspace.read('/workspace/new.txt'))).toBe('done')
      } else {
        expect(await codeOf(site.workspace.write('/x', ''))).toBe('EROFS')
        expect((await site.attempt('echo x > /x')).stderr).toBe('bash: /x: Read-only file system\n')
      }
    })
  })
}
