import { rules, type AccessEvent } from '@ws/core'
import { describe, expect, it } from 'vitest'

import { codeOf, places } from './site.ts'

const noWrite = /Read-only file system|Permission denied|Device or resource busy/

for (const { name, root, open } of places) {
  describe(`policy at both doors: ${name}`, () => {
    it('[PM2, PM5, X13] writing outside the output root is refused, inside goes on', async () => {
      await using site = await open({
        rules: (at) => [rules.withinOutput(at('out')), rules.allow(at('cache'), { justification: 'a cache' })],
      })
      expect(await codeOf(site.workspace.write('a.txt', 'x'))).toBe('EACCES')
      expect((await site.attempt(`echo x > ${site.at('a.txt')}`)).stderr).toMatch(noWrite)
      await site.workspace.write('out/api.txt', 'x')
      await site.run(
        `echo y > ${site.at('out/command.txt')}; mkdir -p ${site.at('cache')}; echo z > ${site.at('cache/z')}`,
      )
      expect(await site.workspace.readText('out/command.txt')).toBe('y\n')
      expect(await site.run('cat file.txt cache/z')).toBe('a file\nz\n')
      expect(await site.workspace.exists('a.txt')).toBe(false)
    })

    it('[RP17] read-only skills cannot be changed, and are there at both doors', async () => {
      await using site = await open({ skills: true })
      const skill = site.at('.solven/skills/system/search.md')
      for (const attack of [
        `echo x > ${skill}`,
        `echo x >> ${skill}`,
        `rm -f ${skill}`,
        `mv ${skill} ${skill}2`,
        `mv file.txt ${skill}`,
        `cp file.txt ${skill}`,
        `chmod 777 ${skill}`,
        `touch ${skill}`,
        `sed -i s/how/HOW/ ${skill}`,
        `tee ${skill} < file.txt`,
        `gzip ${skill}`,
        `ln ${skill} ${site.at('hard')}`,
        `rm -rf ${site.at('.solven')}`,
        `mv ${site.at('.solven')} ${site.at('x')}`,
        `ln -s ${skill} ${site.at('way')} && echo x > ${site.at('way')}`,
      ]) {
        expect((await site.attempt(attack)).exitCode, attack).not.toBe(0)
      }
      expect(await site.run(`cat ${skill}; ls ${site.at('.solven/skills/system')}`)).toBe('how to search\nsearch.md\n')
      expect(await codeOf(site.workspace.write(skill, 'x'))).toBe('EROFS')
      expect(await codeOf(site.workspace.delete(site.at('.solven'), { recursive: true }))).toBe('EBUSY')
    })

    it('a denied subtree is neither read nor changed, by whatever way', async () => {
      await using site = await open({
        files: { 'work/a': '1', 'work/private/key': 'PRIVATE NEEDLE', 'work/z': '2', 'public/key': 'NEEDLE' },
        rules: (at) => [rules.deny(at('work/private'))],
      })
      for (const attack of [
        'cp -r work copied; mv work moved; tar cf t.tar -C work .; rm -rf work',
        'mv work/private p; cat p/key; mkdir -p work/private; echo evil > work/private/key; ln -s work/private l; cat l/key',
        'find . -type f -exec cat {} +; cat work/*/key; grep -r NEEDLE work; rg NEEDLE work; awk 1 work/private/key',
        'cd work/private && cat key; cat < work/private/key; source work/private/key; cat work/private/../private/key',
      ]) {
        expect((await site.attempt(attack)).stdout, attack).not.toMatch(/PRIVATE|evil/)
      }
      expect(await site.run('ls work')).toBe('a\nprivate\nz\n')
      expect((await site.attempt('ls work/private')).stderr).toMatch(/Permission denied/)
      expect(await codeOf(site.workspace.read('work/private/key'))).toBe('EACCES')
      const hits = (await Array.fromAsync(site.workspace.search('NEEDLE'))).map(({ path }) => path)
      expect(hits.filter((path) => !path.includes('public'))).toEqual([])
      expect(await site.run('grep -rl NEEDLE . 2> /dev/null | sort | head -1')).toBe('public/key\n')
    })

    it('a denied file is denied through a link, an alias and `..`', async () => {
      await using site = await open({ files: { 'conf/.env': 'SECRET' }, rules: (at) => [rules.deny(at('conf/.env'))] })
      await site.run('ln -s conf/.env link; ln -s conf dir')
      const ways = ['conf/.env', 'link', 'dir/.env', 'dir/../conf/.env', './/conf//.env'].map((path) => site.at(path))
      if (root === '/') ways.push('/workspace/conf/.env', '/workspace/link')
      for (const way of ways) {
        expect(await codeOf(site.workspace.read(way)), way).toBe('EACCES')
        const result = await site.attempt(`cat '${way}'`)
        expect([result.stdout, result.exitCode === 0], way).toEqual(['', false])
        expect((await site.attempt(`echo evil > '${way}'`)).stderr, way).toMatch(noWrite)
      }
    })

    it('writing through a link lands where the policy says', async () => {
      await using site = await open({ files: { 'out/x': '1' }, rules: (at) => [rules.withinOutput(at('out'))] })
      await site.run('cd out && ln -s . way-in && ln -s ../file.txt way-out')
      await site.run('echo y > out/way-in/command')
      expect(
        (await site.attempt('echo evil > out/way-out; echo evil >> out/way-out; tee out/way-out <<< evil')).stderr,
      ).toMatch(noWrite)
      expect(await site.workspace.readText('file.txt')).toBe('a file\n')
      expect(await site.workspace.readText('out/command')).toBe('y\n')
    })

    it('a protected path that does not exist yet needs no acknowledgement: it is held all the same', async () => {
      await using site = await open({ rules: (at) => [rules.deny(at('later/secret'))] })
      expect((await site.attempt('mkdir -p later && echo x > later/secret')).stderr).toMatch(noWrite)
      expect((await site.workspace.explain({ operation: 'exec', path: '.' })).unenforceable ?? []).toEqual([])
      expect((await site.workspace.explain({ operation: 'read', path: 'later/secret' })).enforcedBy.exec).toBe(
        'interpreter',
      )
    })

    it('rules that only the file API can judge hold in commands too', async () => {
      await using site = await open({
        rules: () => [
          rules.predicate({ name: 'no-exe', test: ({ path, need }) => need === 'read' || !path.endsWith('.exe') }),
        ],
      })
      expect(await codeOf(site.workspace.write('a.exe', 'x'))).toBe('EACCES')
      expect((await site.attempt('echo x > a.exe')).stderr).toBe('bash: a.exe: Permission denied\n')
      expect(await site.run('echo x > a.txt; cat a.txt')).toBe('x\n')
    })

    it('a rule for the whole tree shows the allowed part only', async () => {
      await using site = await open({
        files: { 'proj/a/x': 'x', 'other/y': 'y' },
        rules: (at) => [rules.withinWorkspace(at('proj/a'))],
      })
      expect(await site.run(`cat ${site.at('proj/a/x')}; cd ${site.at('proj/a')} && echo new > new && ls`)).toBe(
        'xnew\nx\n',
      )
      for (const path of ['other/y', 'file.txt']) {
        expect((await site.attempt(`cat ${site.at(path)}`)).stdout, path).toBe('')
      }
      expect((await site.attempt(`echo x > ${site.at('new')}; mkdir ${site.at('proj/b')}`)).exitCode).not.toBe(0)
    })

    it('the audit has every access of a command', async () => {
      await using site = await open({ rules: (at) => [rules.deny(at('no'))], files: { 'no/x': 'x' } })
      const events: AccessEvent[] = []
      site.workspace.on('access', (event) => events.push(event))
      await site.attempt('cat file.txt no/x; echo y > new')
      const seen = events.map(({ door, operation, path, outcome }) => `${door} ${operation} ${path} ${outcome}`)
      expect(seen).toContain(`files read ${site.at('file.txt')} allowed`)
      expect(seen).toContain(`files read ${site.at('no/x')} denied`)
      expect(seen).toContain(`files write ${site.at('new')} allowed`)
      expect(seen.some((line) => line.startsWith('exec exec'))).toBe(true)
    })
  })
}
