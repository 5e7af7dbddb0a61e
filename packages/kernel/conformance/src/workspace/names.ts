import { equal } from '../assert.ts'
import type { Site } from '../doors/site.ts'
import type { DoorSuite } from '../doors/suite.ts'

export const oddNames: readonly string[] = [
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
  '[x]',
  '$HOME',
  '`id`',
  ';true',
  ' lead',
  'trail ',
  '-rf',
  'back\\slash',
  '$(exit 9)',
  'quote " and \' and `',
  'größe 🙂 ?',
  'escape \u001b[31m',
]

// eslint-disable-next-line no-control-regex -- the expression searches for control characters
const controlCharacter = /[\u0001-\u001f\u007f]/u

function namesFor({ store }: Site): string[] {
  return oddNames.filter((name) => store.capabilities.controlCharacters || !controlCharacter.test(name))
}

export function nameTests({ describe, test }: DoorSuite): void {
  describe('names', () => {
    test('[PC20, PC21] that are odd survive from the file door to commands', {}, async (it) => {
      const site = await it.open()
      const names = namesFor(site)
      for (const name of names) await site.workspace.write(`odd/${name}`, name)
      const seen = (await site.run('cd odd && find . -type f -print0')).split('\0').filter(Boolean)
      equal(seen.map((path) => path.slice(2)).sort(), [...names].sort(), 'what a command lists')
      const all = await site.run(['cat', '--', ...names.map((name) => site.at(`odd/${name}`))])
      equal(all, names.join(''), 'what a command reads')
    })

    test('[PC20, PC21] that are odd survive from commands to the file door', {}, async (it) => {
      const site = await it.open()
      const names = namesFor(site)
      await site.workspace.createDirectory('made')
      const quoted = names.map((name) => `'${name.replaceAll("'", `'"'"'`)}'`)
      await site.run(`cd made && ${quoted.map((name) => `printf %s ${name} > ./${name}`).join(' && ')}`)
      const made = (await site.listed('made')).map((path) => path.slice('made/'.length))
      equal(made.sort(), [...names].sort(), 'what the file door lists')
      for (const name of names) equal(await site.workspace.readText(`made/${name}`), name, `what ${name} holds`)
    })

    test('[PC21] that are odd survive search, move, copy and delete', {}, async (it) => {
      const site = await it.open()
      const names = namesFor(site)
      for (const name of names) {
        await site.workspace.write(`odd/${name}`, 'NEEDLE\n')
        await site.workspace.copy(`odd/${name}`, `copied/${name}`)
        await site.workspace.move(`copied/${name}`, `moved/${name}`)
      }
      const hits = await Array.fromAsync(site.workspace.search('NEEDLE', { in: 'moved' }))
      equal(hits.map(({ path }) => path).sort(), names.map((name) => site.at(`moved/${name}`)).sort(), 'the hits')
      for (const name of names) await site.workspace.delete(`moved/${name}`)
      const left = await site.listed()
      equal(
        left.filter((path) => path.startsWith('moved/')),
        [],
        'what is left',
      )
    })

    test('[PC21] that are odd are moved by commands and deleted at the file door', {}, async (it) => {
      const site = await it.open()
      const names = namesFor(site)
      for (const name of names) await site.workspace.write(`odd/${name}`, name)
      const quote = (path: string): string => `'${site.at(path).replaceAll("'", `'"'"'`)}'`
      const moves = names.map(
        (name) => `cat ${quote(`odd/${name}`)} && mv ${quote(`odd/${name}`)} ${quote(`odd/${name}+`)}`,
      )
      equal(await site.run(moves.join(' && ')), names.join(''), 'what a command reads')
      const moved = (await Array.fromAsync(site.workspace.list('odd'))).map(({ name }) => name)
      equal(moved.sort(), names.map((name) => `${name}+`).sort(), 'what the file door lists')
      for (const name of names) await site.workspace.delete(`odd/${name}+`)
      equal((await site.attempt('ls -A odd')).stdout, '', 'what a command lists')
    })

    test('[PC22] in patterns and globs are data', {}, async (it) => {
      const site = await it.open({
        files: { 'src/a.ts': 'x; echo y > evil\n$(touch evil)\n-e a.c\nabc\n', 'src/b.js': 'abc\n' },
      })
      const search = async (pattern: string, glob?: string): Promise<string[]> => {
        const hits = await Array.fromAsync(site.workspace.search(pattern, { in: 'src', ...(glob && { glob }) }))
        return hits.map(({ path, line }) => `${path.slice(site.at('src/').length)}:${line}`).sort()
      }
      equal(await search('$(touch evil)'), ['a.ts:2'], 'a pattern with a substitution')
      equal(await search('; echo y > evil'), ['a.ts:1'], 'a pattern with a redirection')
      equal(await search('a.c'), ['a.ts:3'], 'a dot')
      equal(await search('-e'), ['a.ts:3'], 'a leading dash')
      equal(await search('abc', '*.ts'), ['a.ts:4'], 'a glob')
      equal(await search('abc', '$(touch evil)'), [], 'a glob with a substitution')
      equal(await site.listed(), ['file.txt', 'src', 'src/a.ts', 'src/b.js'], 'the files')
    })
  })
}
