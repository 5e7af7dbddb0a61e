import { rules } from '@ws/core'
import { component, describeWith } from '@ws/test-fixtures'
import { readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { codeOf, doors, isThere, kernelDoors, openSite } from './site.ts'

const noWrite = /Read-only file system|Permission denied|Device or resource busy|Operation not permitted/

for (const door of kernelDoors) {
  describeWith(door.components.map(component), `policy at both doors: ${door.name}`, () => {
    const open = (options: Partial<Parameters<typeof openSite>[0]> = {}) =>
      openSite({ root: door.root, executor: door.create(), require: 'untrusted', ...options })

    it('[PM2, PM5, X13] writing outside the output root is refused, inside goes on', async () => {
      await using site = await open({
        rules: (at) => [rules.withinOutput(at('out')), rules.allow(at('cache'), { justification: 'a cache' })],
      })
      expect(await codeOf(site.workspace.write('a.txt', 'x'))).toBe('EACCES')
      expect((await site.attempt(`echo x > ${site.at('a.txt')}`)).stderr).toMatch(noWrite)
      await site.workspace.write('out/api.txt', 'x')
      await site.run(`echo y > ${site.at('out/command.txt')}`)
      expect(await site.workspace.readText('out/command.txt')).toBe('y\n')
      await site.run(`echo z > ${site.at('cache/z')}`)
      await site.workspace.write('cache/api', 'z')
      expect(await site.run(`cat ${site.at('file.txt')}`)).toBe('a file\n')
      expect(await isThere(join(site.directory, 'a.txt'))).toBe(false)
    })

    it('[RP17] read-only skills cannot be changed, and are there at both doors', async () => {
      await using site = await open({ skills: true })
      const skill = site.at('.solven/skills/system/search.md')
      expect(await site.workspace.readText(skill)).toBe('how to search\n')
      expect(await site.run(`cat ${skill}`)).toBe('how to search\n')
      expect(await codeOf(site.workspace.write(skill, 'x'))).toBe('EROFS')
      for (const attack of [
        `echo x > ${skill}`,
        `rm -f ${skill}`,
        `mv ${skill} ${skill}2`,
        `chmod 777 ${skill}`,
        `touch ${skill}`,
        `truncate -s 0 ${skill}`,
        `ln ${skill} ${site.at('hard')}`,
        `rm -rf ${site.at('.solven')}`,
        `mv ${site.at('.solven')} ${site.at('x')}`,
      ]) {
        expect((await site.attempt(attack)).exitCode, attack).not.toBe(0)
      }
      expect(await site.run(`cat ${skill}`)).toBe('how to search\n')
      expect(await codeOf(site.workspace.delete(site.at('.solven'), { recursive: true }))).toBe('EBUSY')
      expect(await codeOf(site.workspace.move(site.at('.solven'), site.at('x')))).toBe('EBUSY')
    })

    it('an ancestor of a denied path can be neither renamed away nor rebuilt', async () => {
      await using site = await open({
        files: { '.git/hooks/pre-commit': 'original', '.git/config': 'c' },
        rules: (at) => [rules.deny(at('.git/hooks'))],
      })
      const git = site.at('.git')
      const result = await site.attempt(
        `mv ${git} ${git}2 && mkdir -p ${git}/hooks && echo evil > ${git}/hooks/pre-commit`,
      )
      expect(result.exitCode).not.toBe(0)
      expect(result.stderr).toMatch(noWrite)
      expect(await codeOf(site.workspace.move('.git', '.git2'))).toBe('EACCES')
      expect(await codeOf(site.workspace.read('.git/hooks/pre-commit'))).toBe('EACCES')
      expect((await site.attempt(`cat ${git}/hooks/pre-commit`)).stdout).toBe('')
      expect((await site.attempt(`chmod 755 ${git}/hooks; ls -A ${git}/hooks`)).stdout).toBe('')
      expect(await readFile(join(site.directory, '.git/hooks/pre-commit'), 'utf8')).toBe('original')
      await site.run(`echo more >> ${git}/config && mv ${git}/config ${git}/config2`)
    })

    it('recursive delete, move and copy over a denied subtree leave it unread and unchanged', async () => {
      await using site = await open({
        files: { 'work/a': '1', 'work/private/key': 'KEY', 'work/z': '2' },
        rules: (at) => [rules.deny(at('work/private'))],
      })
      const work = site.at('work')
      expect(await codeOf(site.workspace.delete('work', { recursive: true }))).toBe('EACCES')
      expect(await codeOf(site.workspace.copy('work', 'copy'))).toBe('EACCES')
      expect(await codeOf(site.workspace.move('work', 'moved'))).toBe('EACCES')
      expect(await readFile(join(site.directory, 'work/a'), 'utf8')).toBe('1')
      await site.attempt(
        `cp -r ${work} ${site.at('copied')}; mv ${work} ${site.at('moved')}; tar cf ${site.at('t.tar')} -C ${work} .`,
      )
      await site.attempt(`rm -rf ${work}`)
      expect(await readFile(join(site.directory, 'work/private/key'), 'utf8')).toBe('KEY')
      expect((await site.attempt(`grep -rl KEY ${site.at('')}`)).stdout).toBe('')
    })

    it('list and search do not look into what is denied; its name and type are listed', async () => {
      await using site = await open({
        files: { 'private/key': 'NEEDLE', 'public/key': 'NEEDLE' },
        rules: (at) => [rules.deny(at('private'))],
      })
      const paths: string[] = []
      for await (const entry of site.workspace.list(site.at(''), { recursive: true })) paths.push(entry.path)
      expect(paths).toContain(site.at('private'))
      expect(paths).not.toContain(site.at('private/key'))
      const hits: string[] = []
      for await (const hit of site.workspace.search('NEEDLE')) hits.push(hit.path)
      expect(hits).toEqual([site.at('public/key')])
      expect(await codeOf(site.workspace.list('private').next())).toBe('EACCES')
      expect(await codeOf(site.workspace.stat('private'))).toBe('EACCES')
      expect((await site.attempt(`ls ${site.at('private')}`)).stderr).toMatch(/Permission denied/)
      expect((await site.attempt(`ls ${site.at('')}`)).stdout).toContain('private')
    })

    it('a denied file is denied through a link, an alias and a case variant', async () => {
      await using site = await open({
        files: { 'conf/.env': 'SECRET', 'conf/.ENV': 'SECRET2' },
        rules: (at) => [rules.deny(at('conf/.env'))],
      })
      await symlink('conf/.env', join(site.directory, 'link'))
      await symlink('conf', join(site.directory, 'dir'))
      const ways = ['conf/.env', 'link', 'dir/.env', 'conf/.ENV', 'dir/../conf/.env', 'dir/.ENV'].map((path) =>
        site.at(path),
      )
      if (door.root === '/') ways.push('/workspace/conf/.env', '/workspace/link')
      for (const way of ways) {
        expect(await codeOf(site.workspace.read(way)), way).toBe('EACCES')
        const result = await site.attempt(`cat '${way}'`)
        expect(result.stdout, way).toBe('')
        expect(result.exitCode, way).not.toBe(0)
      }
      expect(
        (
          await site.attempt(
            `cd ${site.at('conf')} && chmod 644 .env .ENV; cat .env .ENV; rm -f .env; mv .env x; ln .env y; cp .env z`,
          )
        ).stdout,
      ).toBe('')
      expect(await readFile(join(site.directory, 'conf/.env'), 'utf8')).toBe('SECRET')
    })

    it('writing through a link lands where the policy says', async () => {
      await using site = await open({ files: { 'out/x': '1' }, rules: (at) => [rules.withinOutput(at('out'))] })
      await symlink('out', join(site.directory, 'way-in'))
      await symlink('../file.txt', join(site.directory, 'out/way-out'))
      await site.workspace.write('way-in/api', 'x')
      await site.run(`echo y > ${site.at('way-in/command')}`)
      expect(await codeOf(site.workspace.write('out/way-out', 'x'))).toBe('EACCES')
      expect((await site.attempt(`echo evil > ${site.at('out/way-out')}`)).stderr).toMatch(noWrite)
      expect(await site.workspace.readText('file.txt')).toBe('a file\n')
    })

    it('a protected path that does not exist yet is refused to start, and leaves no dropping', async () => {
      await using site = await open({ rules: (at) => [rules.deny(at('later/secret'))] })
      await expect(site.attempt('true')).rejects.toThrow(/EUNENFORCEABLE.*does not exist.*acknowledge/s)
      expect(await isThere(join(site.directory, 'later'))).toBe(false)
      await site.run('true', { acknowledge: [`deny(${site.at('later/secret')})`] })
      expect(await isThere(join(site.directory, 'later'))).toBe(false)
      expect(await codeOf(site.workspace.write('later/secret', 'x'))).toBe('EACCES')
    })

    it('a link as a bind destination is refused to start', async () => {
      await using site = await open({ files: { 'real/secret/x': '1' }, rules: (at) => [rules.deny(at('dir/secret'))] })
      await symlink('real', join(site.directory, 'dir'))
      await expect(site.attempt('true')).rejects.toThrow(/EUNENFORCEABLE.*link/s)
    })

    it('a rule for the whole tree shows the allowed part only', async () => {
      await using site = await open({
        files: { 'proj/a/x': 'x', 'other/y': 'y' },
        rules: (at) => [rules.withinWorkspace(at('proj/a'))],
      })
      expect(await site.run(`cat ${site.at('proj/a/x')}`)).toBe('x')
      await site.run(`echo new > ${site.at('proj/a/new')}`)
      expect(await site.workspace.readText('proj/a/new')).toBe('new\n')
      for (const path of ['other/y', 'file.txt']) {
        expect(await codeOf(site.workspace.read(path)), path).toBe('EACCES')
        expect((await site.attempt(`cat ${site.at(path)}`)).exitCode, path).not.toBe(0)
      }
      expect(await codeOf(site.workspace.write('other/new', 'x'))).toBe('EACCES')
      expect(
        (await site.attempt(`echo x > ${site.at('new')}; mkdir ${site.at('proj/b')}; echo x > ${site.at('other/new')}`))
          .exitCode,
      ).not.toBe(0)
      expect(await isThere(join(site.directory, 'new'))).toBe(false)
      expect(await isThere(join(site.directory, 'proj/b'))).toBe(false)
    })

    it('legitimate work beside protected parts goes on; what becomes EXDEV is listed by explain', async () => {
      await using site = await open({
        files: { '.git/hooks/x': '1', 'src/a/f': 'f', 'src/b/g': 'g', 'src/b/locked/h': 'h' },
        rules: (at) => [rules.readOnly(at('.git/hooks')), rules.deny(at('src/b/locked'))],
      })
      const src = site.at('src')
      await site.run(
        `mv ${src}/a/f ${src}/a/f2 && mv ${src}/b/g ${src}/b/g2 && mkdir ${src}/c && mv ${src}/a/f2 ${src}/c/`,
      )
      await site.run(`mv ${src}/c/f2 ${src}/b/`)
      const across = await site.attempt(`python3 -c "import os; os.rename('${src}/b/f2', '${src}/f2')"`)
      expect(across.stderr).toMatch(/cross-device/i)
      const explained = await site.workspace.explain({ operation: 'move', path: 'src/b/f2' })
      expect(explained.renameBorders).toContain(site.at('src/b'))
      expect((await site.attempt(`echo x > ${site.at('.git/hooks/x')}`)).stderr).toMatch(noWrite)
    })
  })
}

for (const door of doors.filter(({ kernel }) => !kernel)) {
  describeWith(door.components.map(component), `what cannot be held is refused: ${door.name}`, () => {
    const open = (options: Partial<Parameters<typeof openSite>[0]> = {}) =>
      openSite({ root: door.root, executor: door.create(), ...options })

    it('[PC13] a read-only subtree refuses commands until it is acknowledged', async () => {
      await using site = await open({ files: { 'keep/x': '1' }, rules: (at) => [rules.readOnly(at('keep'))] })
      await expect(site.attempt('true')).rejects.toThrow(/EUNENFORCEABLE/)
      const rule = `readOnly(${site.at('keep')})`
      expect((await site.workspace.explain({ operation: 'exec', path: '.' })).unenforceable?.[0]?.rule).toBe(rule)
      expect((await site.attempt('echo ran', { acknowledge: [rule] })).stdout).toBe('ran\n')
      expect(await codeOf(site.workspace.write('keep/x', '2'))).toBe('EACCES')
    })

    it('a denied subtree is masked by translation, and explain says so', async () => {
      await using site = await open({ files: { 'private/key': 'KEY' }, rules: (at) => [rules.deny(at('private'))] })
      expect((await site.attempt(`cat ${site.at('private/key')}`)).stdout).toBe('')
      expect((await site.attempt(`ls ${site.at('private')}`)).stdout).toBe('')
      expect((await site.workspace.explain({ operation: 'read', path: 'private/key' })).enforcedBy.exec).toBe(
        'translated',
      )
    })

    it('[PC13] an untrusted requirement is refused, with the reasons', async () => {
      await expect(open({ require: 'untrusted' })).rejects.toThrow(/ENOEXECUTOR.*proot/s)
    })

    it('[RP17] read-only skills are enforced or refused, never silently writable', async () => {
      await using site = await open({ skills: true })
      const skill = site.at('.solven/skills/system/search.md')
      if (site.workspace.executor?.guarantees.readOnlyMounts === 'none') {
        await expect(site.attempt('true')).rejects.toThrow(/EUNENFORCEABLE/)
        return
      }
      for (const attack of [`echo x > ${skill}`, `rm -f ${skill}`, `truncate -s 0 ${skill}`]) {
        expect((await site.attempt(attack)).exitCode, attack).not.toBe(0)
      }
      expect(await site.run(`cat ${skill}`)).toBe('how to search\n')
    })
  })
}
