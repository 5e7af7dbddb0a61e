import { equal, rejects } from '../assert.ts'
import { at, encode, offered, type Case } from './case.ts'
import type { Suite } from './suite.ts'

const oddNames = [
  ' ',
  ' leading and trailing ',
  '-rf',
  '--',
  '.hidden',
  '..hidden',
  '...',
  'a|b',
  'a:b',
  'a;b&c',
  '$(id)',
  '`id`',
  '"quoted"',
  "it's",
  'a\\b',
  'a\nb',
  'a\tb',
  'a\rb',
  '*',
  '?',
  '[a]',
  '{a,b}',
  '!a',
  '#a',
  '~',
  '%2e%2e',
  '%00',
  'a=b',
  'C:',
  'CON',
  'äöü',
  '日本語',
  '😀',
  '\u202e\u200f',
  '__proto__',
  'constructor',
  'absent',
]

// eslint-disable-next-line no-control-regex -- the expression searches for control characters
const controlCharacter = /[\u0001-\u001f\u007f]/u

function namesFor({ capabilities }: Case): string[] {
  return oddNames.filter((name) => capabilities.controlCharacters || !controlCharacter.test(name))
}

export function nameTests({ describe, test, change }: Suite): void {
  describe('names', () => {
    change('[PC21] survive write, stat, read, list, move, copy and delete', {}, async (it) => {
      const odd = namesFor(it)
      for (const name of odd) await it.adapter.write(at(`/dir/${name}`), encode(name), { parents: true })
      const listed = await it.entries('/dir')
      equal(listed.map((entry) => entry.name).toSorted(), odd.toSorted(), 'the names')
      for (const name of odd) {
        const path = at(`/dir/${name}`)
        equal(await it.text(path), name)
        await it.adapter.copy(path, at(`/copies/${name}`), { parents: true })
        await it.adapter.move(path, at(`/moved/${name}/${name}`), { parents: true })
        equal(await it.text(`/copies/${name}`), name)
        equal(await it.text(`/moved/${name}/${name}`), name)
        await it.adapter.delete(at(`/copies/${name}`))
      }
      equal((await it.entries('/moved')).map((entry) => entry.name).toSorted(), odd.toSorted(), 'the moved names')
      equal(
        (await it.paths('/', { recursive: true })).filter((path) => /^\/(?:copies|dir)\//u.test(path)),
        [],
      )
    })

    test('[PC21] survive search', { search: true }, async (it) => {
      const odd = namesFor(it)
      for (const name of odd) await it.put(`/${name}`, 'needle')
      const search = offered(it.adapter.search, 'search').bind(it.adapter)
      const hits = await Array.fromAsync(search({ pattern: 'needle', in: at('/') }))
      equal(hits.map(({ path }) => path.slice(1)).toSorted(), odd.toSorted(), 'the names')
      for (const name of odd) {
        const one = await Array.fromAsync(search({ pattern: 'needle', in: at(`/${name}`) }))
        equal(
          one.map(({ path }): string => path),
          [`/${name}`],
          'one name',
        )
      }
    })

    change(
      'with control characters are EINVAL where the store cannot hold them',
      {
        controlCharacters: false,
      },
      async (it) => {
        for (const name of oddNames.filter((odd) => controlCharacter.test(odd))) {
          await rejects(it.adapter.write(at(`/${name}`), encode('x')), 'EINVAL')
          await rejects(it.adapter.createDirectory(at(`/${name}`)), 'EINVAL')
          await rejects(it.adapter.stat(at(`/${name}`)), 'EINVAL')
        }
        equal(await it.tree(), [])
      },
    )

    change('that differ in case or in normalisation only are two', { caseSensitive: true }, async (it) => {
      const names = ['name', 'Name', 'NAME', 'e\u0301', '\u00e9', 'ß', 'ss']
      for (const name of names) await it.adapter.write(at(`/${name}`), encode(name))
      equal((await it.entries('/')).map(({ name }) => name).toSorted(), names.toSorted())
      for (const name of names) equal(await it.text(`/${name}`), name)
    })

    change('may be as long as declared', {}, async (it) => {
      const { maxNameBytes } = it.capabilities
      const name = 'é'.repeat(Math.floor(maxNameBytes / 2)) + 'x'.repeat(maxNameBytes % 2)
      await it.adapter.write(at(`/${name}`), encode('x'))
      equal(
        (await it.entries('/')).map((entry) => entry.name),
        [name],
      )
    })

    change('that are longer are ENAMETOOLONG', {}, async (it) => {
      const { maxNameBytes } = it.capabilities
      const path = `/${'x'.repeat(maxNameBytes + 1)}` as ReturnType<typeof at>
      await rejects(it.adapter.write(path, encode('x')), 'ENAMETOOLONG')
      await rejects(it.adapter.stat(path), 'ENAMETOOLONG')
      await rejects(it.adapter.createDirectory(path, { recursive: true }), 'ENAMETOOLONG')
      equal(await it.tree(), [])
    })

    change('make a path that is ENAMETOOLONG, and a long one that is not', {}, async (it) => {
      const { maxPathBytes, maxNameBytes } = it.capabilities
      const name = `/${'n'.repeat(Math.min(99, maxNameBytes))}`
      const parent = name.repeat(Math.floor((maxPathBytes - 2) / name.length))
      const longest = `${parent}/${'x'.repeat(Math.min(maxNameBytes, maxPathBytes - parent.length - 1))}`
      await it.adapter.write(at(longest), encode('deep'), { parents: true })
      equal(await it.text(longest), 'deep')
      const longer = `${longest}/${'x'.repeat(Math.min(maxNameBytes, maxPathBytes))}` as ReturnType<typeof at>
      await rejects(it.adapter.stat(longer), 'ENAMETOOLONG')
    })
  })
}
