import { rules } from '@ws/core'
import { satisfies } from '@ws/core/executor'
import { check, equal, rejects } from '../assert.ts'
import { codeOf, skillsPath } from '../doors/site.ts'
import type { DoorSuite } from '../doors/suite.ts'

const noWrite = /Read-only file system|Permission denied|Device or resource busy|Operation not permitted/

export function outputTests({ describe, test }: DoorSuite): void {
  describe('writing', () => {
    test('[PM2, PM5, X13] outside the output root is refused at both doors, inside goes on', {
      holds: ['subtrees'],
    }, async (it) => {
      const site = await it.open({
        files: { 'output/x': 'begins alike' },
        rules: (at) => [rules.withinOutput(at('out')), rules.allow(at('cache'), { justification: 'a cache' })],
      })
      for (const path of ['a.txt', 'file.txt', 'output/x', 'outer.txt']) {
        equal(await codeOf(site.workspace.write(path, 'evil')), 'EACCES', `${path} at the file door`)
        const { exitCode, stderr } = await site.attempt(`echo evil > ${site.at(path)}`)
        check(exitCode !== 0 && noWrite.test(stderr), `a command wrote ${path}: ${stderr}`)
      }
      equal([await site.stored('a.txt'), await site.stored('output/x')], [undefined, 'begins alike'], 'the store')
      await site.workspace.write('out/api.txt', 'x')
      equal(await codeOf(site.workspace.move('out/api.txt', 'moved.txt')), 'EACCES', 'a move out at the file door')
      await site.attempt(
        `mv ${site.at('out/api.txt')} ${site.at('moved.txt')}; cd out && ln -s .. up && echo x > up/moved.txt; rm -f up`,
      )
      equal(await site.stored('moved.txt'), undefined, 'what a command moved out')
      await site.workspace.write('cache/api.txt', 'x')
      await site.run(`echo y > ${site.at('out/command.txt')}; echo z > ${site.at('cache/z')}`)
      equal(await site.workspace.readText('out/command.txt'), 'y\n', 'what a command wrote')
      equal(await site.run(`cat ${site.at('file.txt')} ${site.at('out/api.txt')}`), 'a file\nx', 'what a command reads')
    })

    test('through a link lands where the policy says', { withstands: ['subtrees'], symlinks: true }, async (it) => {
      const site = await it.open({ files: { 'out/x': '1' }, rules: (at) => [rules.withinOutput(at('out'))] })
      await site.link('way-in', 'out')
      await site.link('out/way-out', '../file.txt')
      await site.workspace.write('way-in/api', 'x')
      await site.run(`echo y > ${site.at('way-in/command')}`)
      equal([await site.stored('out/api'), await site.stored('out/command')], ['x', 'y\n'], 'what was written')
      equal(await codeOf(site.workspace.write('out/way-out', 'evil')), 'EACCES', 'through the link, at the file door')
      const { stderr } = await site.attempt('echo evil > out/way-out; echo evil >> out/way-out; cp out/x out/way-out')
      check(noWrite.test(stderr), `a command wrote through the link: ${stderr}`)
      equal(await site.stored('file.txt'), 'a file\n', 'what the link leads to')
    })

    test('[RP17] to a read-only mount is refused at both doors, by whatever way', {
      withstands: ['readOnlyMounts'],
    }, async (it) => {
      const site = await it.open({ skills: true })
      const skill = site.at(`${skillsPath}/search.md`)
      const [parent, place, hard, other] = ['.solven', skillsPath, 'hard', 'x'].map((path) => site.at(path))
      for (const attack of [
        `echo x > ${skill}`,
        `echo x >> ${skill}`,
        `rm -f ${skill}`,
        `mv ${skill} ${skill}2`,
        `mv file.txt ${skill}`,
        `cp file.txt ${skill}`,
        `sed -i s/how/HOW/ ${skill}`,
        `ln ${skill} ${hard} && echo x > ${hard}`,
        `rm -rf ${parent}`,
        `ln -s ${skill} way && echo x > way`,
        `tee ${skill} < file.txt`,
      ]) {
        check((await site.attempt(attack)).exitCode !== 0, `${attack} succeeded`)
      }
      // an executor may allow renaming the parent, but the mount must remain during the rename and afterwards
      const rebuilt = await site.attempt(`mv ${parent} ${other}; mkdir -p ${place}; echo evil > ${skill}; cat ${skill}`)
      // if the whole command line was refused, it has read no file
      if (!site.refuses(rebuilt)) equal(rebuilt.stdout, 'how to search\n', 'the skills in a place that was rebuilt')
      equal(await site.run(`cat ${skill}; ls ${site.at(skillsPath)}`), 'how to search\nsearch.md\n', 'the skills')
      equal(await codeOf(site.workspace.write(skill, 'x')), 'EROFS', 'a write at the file door')
      equal(await codeOf(site.workspace.delete('.solven', { recursive: true })), 'EBUSY', 'deleting what holds a mount')
      equal(await codeOf(site.workspace.move('.solven', 'x')), 'EBUSY', 'moving what holds a mount')
    })

    test('[RP17] to a read-only mount and its place is refused at the file door', {}, async (it) => {
      const site = await it.open({ skills: true })
      const { workspace } = site
      const skill = `${skillsPath}/search.md`
      equal(await codeOf(workspace.write(skill, 'x')), 'EROFS', 'write')
      equal(await codeOf(workspace.delete(skill)), 'EROFS', 'delete')
      equal(await codeOf(workspace.move(skill, 'taken.md')), 'EROFS', 'move')
      for (const place of [skillsPath, '.solven']) {
        await rejects(workspace.delete(place, { recursive: true }), ['EBUSY', 'EROFS'], { what: `delete of ${place}` })
        await rejects(workspace.move(place, 'x'), ['EBUSY', 'EROFS'], { what: `move of ${place}` })
      }
      equal(await workspace.readText(skill), 'how to search\n', 'the skills')
    })

    test('[RP17] to permissions and times in a read-only mount is refused to commands', {
      holds: ['readOnlyMounts'],
    }, async (it) => {
      const { fileMetadata } = it.guarantees
      if (!satisfies(fileMetadata, 'kernel')) it.skip(`guarantee fileMetadata: ${fileMetadata}`)
      const site = await it.open({ skills: true })
      const details = async (): Promise<unknown> => {
        const { mode, modifiedAt, version } = await site.workspace.stat(`${skillsPath}/search.md`)
        return { mode, modifiedAt, version }
      }
      const before = await details()
      await site.attack(`cd ${site.at(skillsPath)} && chmod -R 777 . ; touch -d '2001-01-01' search.md .`)
      equal(await details(), before, 'permissions and times')
    })

    test('a rule for the whole tree leaves the allowed part only', { withstands: ['deniedSubtrees'] }, async (it) => {
      const site = await it.open({
        files: { 'proj/a/x': 'x', 'other/y': 'SECRET' },
        rules: (at) => [rules.withinWorkspace(at('proj/a'))],
      })
      equal(await site.run(`cat ${site.at('proj/a/x')}; echo new > ${site.at('proj/a/new')}`), 'x', 'inside')
      equal(await site.workspace.readText('proj/a/new'), 'new\n', 'inside')
      for (const path of ['other/y', 'file.txt']) {
        equal(await codeOf(site.workspace.read(path)), 'EACCES', `${path} at the file door`)
        equal((await site.attempt(`cat ${site.at(path)}`)).stdout, '', `${path} in a command`)
      }
      equal(await codeOf(site.workspace.write('other/new', 'x')), 'EACCES', 'a write at the file door')
      await site.attempt(`echo x > ${site.at('new')}; mkdir ${site.at('proj/b')}; echo x > ${site.at('other/new')}`)
      const kept = (await site.tree()).filter((line) => /new$|proj\/b/.test(line))
      equal(kept, ['file /proj/a/new'], 'what was made')
    })
  })
}
