import { readFile, symlink } from 'node:fs/promises'
import { isWorkspaceError } from '@ws/core'
import { describeWith } from '@ws/test-fixtures'
import { afterEach, beforeEach, expect, it } from 'vitest'

import { isBelow, modes, namesBelow, needed, tagsInEachForm, Workbench } from './support/workbench.ts'

for (const mode of modes) {
  describeWith(needed[mode], `a policy in commands (${mode})`, { tags: tagsInEachForm(mode) }, () => {
    let bench: Workbench
    beforeEach(async () => {
      bench = await Workbench.create(mode)
    })
    afterEach(() => bench[Symbol.asyncDispose]())

    async function refused(commands: readonly string[], options = {}) {
      for (const command of commands) {
        const { exitCode, stdout } = await bench.run(command, options)
        expect({ command, succeeded: exitCode === 0, stdout }).toEqual({ command, succeeded: false, stdout: '' })
      }
    }

    it('masks a file: its owner can neither read nor write nor replace it, nor open it by chmod', async () => {
      await bench.file(bench.host('keys/secret'), 'hush')
      await bench.file(bench.host('keys/other'), 'fine')
      const parts = [
        { kind: 'pin', at: '/keys' },
        { kind: 'mask', at: '/keys/secret', type: 'file' },
      ] as const
      await refused(
        [
          'cat keys/secret',
          'echo x > keys/secret',
          'chmod 644 keys/secret',
          'rm -f keys/secret',
          'mv keys/secret keys/moved',
          'mv keys/other keys/secret',
          'ln keys/secret keys/linked',
          'mv keys away && cat away/secret',
          'ln -s keys/secret here && cat here',
          'cp -r keys copy && cat copy/secret',
          'truncate -s 0 keys/secret',
          'cat < keys/secret',
          'rm -rf keys',
        ],
        { parts },
      )
      expect(await readFile(bench.host('keys/secret'), 'utf8')).toBe('hush')
      expect((await bench.run('ls keys; stat -c %a keys/secret', { parts })).stdout).toMatch(/secret\n0\n$/)
    })

    it('masks a directory: it cannot be listed, entered, opened by chmod, renamed or removed', async () => {
      await bench.file(bench.host('private/inner/file'), 'hush')
      const parts = [{ kind: 'mask', at: '/private' }] as const
      await refused(
        [
          'ls private',
          'cat private/inner/file',
          'cd private',
          'chmod 755 private',
          'touch private/new',
          'mv private away',
          'rm -rf private',
          'rmdir private',
        ],
        { parts },
      )
      expect(await namesBelow(bench.host())).toEqual(['private', 'private/inner', 'private/inner/file'])
    })

    it('keeps an ancestor of a protected part in place: renaming it away is EBUSY, and nothing can be built anew', async () => {
      await bench.file(bench.host('.git/hooks/pre-commit'), 'original')
      const parts = [
        { kind: 'pin', at: '/.git' },
        { kind: 'subtree', at: '/.git/hooks', access: 'read-only' },
      ] as const
      const attack = await bench.run('mv .git .git2; mkdir -p .git/hooks && echo evil > .git/hooks/pre-commit', {
        parts,
      })
      expect(attack.exitCode).not.toBe(0)
      expect(attack.stderr).toMatch(/Device or resource busy[\s\S]*Read-only file system/)
      await refused(['mv .git/hooks .git/old', 'rm -rf .git', 'echo x > .git/hooks/new', 'rm .git/hooks/pre-commit'], {
        parts,
      })
      expect(await namesBelow(bench.host())).toEqual(['.git', '.git/hooks', '.git/hooks/pre-commit'])
      expect(await readFile(bench.host('.git/hooks/pre-commit'), 'utf8')).toBe('original')
    })

    it('closes a directory around an open part: it can be passed through, not listed or changed', async () => {
      await bench.file(bench.host('area/open/file'), 'open')
      await bench.file(bench.host('area/sibling'), 'closed')
      const parts = [
        { kind: 'closed', at: '/area' },
        { kind: 'subtree', at: '/area/open' },
      ] as const
      await refused(['ls area', 'cat area/sibling', 'touch area/new', 'chmod 755 area', 'mv area/open area/x'], {
        parts,
      })
      const { stdout } = await bench.run('cat area/open/file; echo new > area/open/new; ls area/open', { parts })
      expect(stdout).toBe('openfile\nnew\n')
      expect(await namesBelow(bench.host('area'))).toEqual(['open', 'open/file', 'open/new', 'sibling'])
    })

    it('[RP17] [RP19] mounts read-only at an existing mount point, which cannot be removed or renamed', async () => {
      await bench.file(bench.outside('skills/skill.md'), 'shared')
      await bench.directory(bench.host('.solven/skills/system'))
      const source = bench.outside('skills')
      const parts = [
        { kind: 'pin', at: '/.solven' },
        { kind: 'pin', at: '/.solven/skills' },
        { kind: 'mount', at: '/.solven/skills/system', source, access: 'read-only' },
      ] as const
      const { stdout } = await bench.run('ls .solven/skills; cat .solven/skills/system/skill.md', { parts })
      expect(stdout).toBe('system\nshared')
      await refused(
        [
          'echo x > .solven/skills/system/skill.md',
          'touch .solven/skills/system/new',
          'rm -rf .solven/skills/system',
          'mv .solven away',
          'rmdir .solven/skills/system',
          'chmod 777 .solven/skills/system/skill.md',
          'touch .solven/skills/system/skill.md',
        ],
        { parts },
      )
      expect(await readFile(bench.outside('skills/skill.md'), 'utf8')).toBe('shared')
      expect(await namesBelow(bench.host())).toEqual(['.solven', '.solven/skills', '.solven/skills/system'])
    })

    it('[RP18] refuses to start where a mount point or a protected part is missing, and makes none', async () => {
      const missing = [
        [{ kind: 'mask', at: '/missing/secret', type: 'file' }],
        [{ kind: 'mask', at: '/missing' }],
        [{ kind: 'mount', at: '/skills', source: bench.outside(), access: 'read-only' }],
      ] as const
      for (const parts of missing) {
        const error = await bench.run('true', { parts }).catch((thrown: unknown) => thrown)
        expect(isWorkspaceError(error, 'EBUSY')).toBe(true)
        expect(String(error)).not.toContain(bench.scratch.path)
      }
      expect(await namesBelow(bench.host())).toEqual([])
    })

    it('refuses links in a destination and as a source', async () => {
      await bench.file(bench.outside('target/secret'), 'hush')
      await symlink(bench.outside('target'), bench.host('link'))
      const linked = [
        [{ kind: 'mask', at: '/link/secret', type: 'file' }],
        [{ kind: 'mask', at: '/link' }],
        [{ kind: 'subtree', at: '/link', access: 'read-only' }],
      ] as const
      for (const parts of linked) {
        const error = await bench.run('true', { parts }).catch((thrown: unknown) => thrown)
        expect(error).toMatchObject({ code: 'EBUSY' })
      }
    })

    it('makes a border at a pinned directory: EXDEV across, renames and links within', async () => {
      await bench.file(bench.host('src/a/f'), 'f')
      await bench.file(bench.host('src/secret'), 's')
      await bench.file(bench.host('g'), 'g')
      const parts = [
        { kind: 'pin', at: '/src' },
        { kind: 'mask', at: '/src/secret', type: 'file' },
      ] as const
      const rename = (from: string, to: string) => `perl -e 'rename("${from}","${to}") or print "$!\\n"'`
      const across = await bench.run(
        `${rename('g', 'src/g')}; ${rename('src/a/f', 'f')}; ln g src/l; mv g src/g; ls src`,
        { parts },
      )
      expect(across.stdout).toBe('Invalid cross-device link\nInvalid cross-device link\na\ng\nsecret\n')
      const inside = await bench.run('mv src/a/f src/f && ln src/f src/l && mv src/a src/b && ls src', { parts })
      expect(inside.stdout).toBe('b\nf\ng\nl\nsecret\n')
      // Without the pin, the same rename works.
      expect((await bench.run(rename('src/f', 'f'))).stdout).toBe('')
    })

    it('keeps what is above the mounts read-only', async () => {
      if (!isBelow(mode)) return
      const { exitCode, stderr } = await bench.run('touch /new')
      expect({ exitCode, stderr }).toEqual({
        exitCode: 1,
        stderr: "touch: cannot touch '/new': Read-only file system\n",
      })
    })

    it('lets a recursive command stop at the protected part, which stays as it is', async () => {
      await bench.file(bench.host('tree/keep/secret'), 'hush')
      await bench.file(bench.host('tree/other'), 'x')
      const parts = [
        { kind: 'pin', at: '/tree' },
        { kind: 'mask', at: '/tree/keep' },
      ] as const
      expect((await bench.run('rm -rf tree; grep -r hush .', { parts })).stdout).toBe('')
      expect(await readFile(bench.host('tree/keep/secret'), 'utf8')).toBe('hush')
    })

    it('holds more masks than bubblewrap could mount', async () => {
      const names = Array.from({ length: 300 }, (_, index) => `/m${index}`)
      for (const name of names) await bench.file(bench.host(name), 'hush')
      const masks = names.map((at) => ({ kind: 'mask', at, type: 'file' }) as const)
      for (const count of [150, 300]) {
        const { stdout } = await bench.run('cat m* 2>/dev/null; ls | wc -l', { parts: masks.slice(0, count) })
        expect(stdout).toBe(`${'hush'.repeat(300 - count)}300\n`)
      }
    })
  })
}
