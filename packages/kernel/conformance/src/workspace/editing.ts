import { type AccessEvent, isWorkspaceError, rules } from '@ws/core'
import { check, equal, rejects } from '../assert.ts'
import { codeOf, skillsPath } from '../doors/site.ts'
import type { DoorCase, DoorSuite } from '../doors/suite.ts'

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)

/** Skips a test of edits if the store does not check versions. */
async function checksVersions(it: DoorCase): Promise<void> {
  const store = await it.fixture.createStore('conditions')
  const { conditionalWrite } = store.capabilities
  await store.close()
  if (conditionalWrite === 'none') it.skip('capability conditionalWrite: none')
}

export function editingTests({ describe, test }: DoorSuite): void {
  describe('edit', () => {
    test('[PC23] replaces the one place, or all, and tells how many', {}, async (it) => {
      await checksVersions(it)
      const { workspace } = await it.open({ files: { a: 'one two two\n' } })
      const before = await workspace.stat('a')
      const first = await workspace.edit('a', { oldText: 'one', newText: 'three' })
      equal([first.replacements, first.size], [1, 14], 'the result')
      check(first.attempts >= 1 && first.version !== before.version, 'the attempts, and another version')
      equal((await workspace.edit('a', { oldText: 'two', newText: '$& \\1', all: true })).replacements, 2)
      equal(await workspace.readText('a'), 'three $& \\1 $& \\1\n', 'text is data')
      const several = [
        { oldText: '\n', newText: '!\n' },
        { oldText: 'three', newText: '' },
      ]
      equal((await workspace.edit('a', several)).replacements, 2)
      equal(await workspace.readText('a'), ' $& \\1 $& \\1!\n', 'several edits')
    })

    test('[PC23] refuses text that is missing, or there more than once, and changes nothing', {}, async (it) => {
      await checksVersions(it)
      const { workspace } = await it.open({ files: { a: 'x aaa y\n' } })
      const missing = await rejects(workspace.edit('a', { oldText: 'none', newText: '' }), 'EINVAL')
      check(/`oldText`/.test(missing.message) && missing.remedy !== undefined, `the message: ${missing.message}`)
      const twice = await rejects(workspace.edit('a', [{ oldText: 'aa', newText: 'b' }]), 'EINVAL')
      check(/`edits\[0\].oldText` 2 times/.test(twice.message), `the message has the count: ${twice.message}`)
      const edits = (...pairs: string[][]) => pairs.map(([oldText = '', newText = '']) => ({ oldText, newText }))
      for (const [what, wrong] of [
        ['an overlap', edits(['x a', ''], ['aaa', ''])],
        ['the same twice', edits(['x', 'z'], ['x', 'z'])],
        ['one that fits and one that does not', edits(['x', 'z'], ['none', ''])],
        ['one that fits only behind another', edits(['x', 'z'], ['z', ''])],
        ['empty text', edits(['', 'z'])],
        ['a lone surrogate', edits(['x', '\ud800'])],
        ['no edits', []],
        ['something else', 7 as never],
        ['an option that is not there', { oldText: 'x', newText: '', every: true } as never],
        ['a function that gives text', (() => 'text') as never],
      ] as const)
        equal(await codeOf(workspace.edit('a', wrong)), 'EINVAL', what)
      equal(await workspace.readText('a'), 'x aaa y\n', 'the file')
      equal(await codeOf(workspace.edit('missing', { oldText: 'x', newText: '' })), 'ENOENT', 'a missing file')
      equal(await codeOf(workspace.edit('.', { oldText: 'x', newText: '' })), 'EISDIR', 'a directory')
      equal(await codeOf(workspace.edit('a/', { oldText: 'x', newText: '' })), 'ENOTDIR', 'a slash behind a file')
    })

    test('keeps every other byte: line ends, BOM, bytes that are not UTF-8', {}, async (it) => {
      await checksVersions(it)
      const { workspace } = await it.open()
      const parts = ['\uFEFFa\r\nb\n', Uint8Array.of(0xff, 0xfe, 0x00, 0xc3), '\r\n\u00A0ä\u0000 end']
      const bytes = (text: string): Uint8Array =>
        Uint8Array.from(
          parts.flatMap((part) => [...(typeof part === 'string' ? encode(part.replace('ä', text)) : part)]),
        )
      await workspace.write('odd', bytes('ä'))
      await workspace.edit('odd', { oldText: '\u00A0ä', newText: '\u00A0日本' })
      equal((await workspace.read('odd')).bytes, bytes('日本'), 'the bytes')
      await workspace.write('self', 'ababab abab')
      equal((await workspace.edit('self', { oldText: 'abab', newText: 'x', all: true })).replacements, 2)
      equal(await workspace.readText('self'), 'xab x', 'places that overlap, from the start on')
    })

    test('by a function gets the bytes, and writes nothing where they stay the same', {}, async (it) => {
      await checksVersions(it)
      const { workspace } = await it.open({ files: { a: 'abc' } })
      const same = await workspace.edit('a', (content) => content)
      equal([same.size, same.replacements, same.attempts], [3, 0, 1], 'without a change')
      const changed = await workspace.edit('a', async (content, stat) => {
        equal(stat.size, 3, 'the size')
        return content.fill(120)
      })
      equal([changed.replacements, changed.size], [1, 3], 'the result')
      equal(await workspace.readText('a'), 'xxx', 'a change in place')
      const mine = new Error('mine')
      const failure = await workspace
        .edit('a', () => {
          throw mine
        })
        .catch((error: unknown) => error)
      check(failure === mine, 'its error is passed on')
    })

    test('[PC23] begins again where the file has changed, and gives up in time', {}, async (it) => {
      await checksVersions(it)
      const { workspace } = await it.open({ files: { a: 'one\n' } })
      let calls = 0
      const raced = await workspace.edit('a', async (content) => {
        calls += 1
        if (calls === 1) await workspace.append('a', 'other\n').catch(() => workspace.write('a', 'one\nother\n'))
        return encode(`${new TextDecoder().decode(content)}mine\n`)
      })
      check(raced.attempts >= 2 && raced.attempts === calls, `${raced.attempts} attempts, ${calls} calls`)
      equal(await workspace.readText('a'), 'one\nother\nmine\n', 'both changes')
      const always = workspace.edit(
        'a',
        async () => {
          calls += 1
          await workspace.write('a', `changed ${calls}`)
          return encode('mine')
        },
        { timeout: 50 },
      )
      equal(await codeOf(always), 'ECONFLICT', 'a file that keeps changing')
      equal(await workspace.readText('a'), `changed ${calls}`, 'what is there then')
      const { version } = await workspace.stat('a')
      await workspace.write('a', 'newer')
      const once = workspace.edit('a', { oldText: 'newer', newText: '' }, { ifVersion: version })
      equal(await codeOf(once), 'ECONFLICT', 'another version than the one that is meant')
    })

    test('needs the right to read and the right to write, where links lead too', {}, async (it) => {
      await checksVersions(it)
      const site = await it.open({
        files: { 'no/x': 'x', 'fixed/x': 'x', 'dir/a': 'x' },
        rules: (at) => [rules.deny(at('no')), rules.readOnly(at('fixed'))],
        skills: true,
      })
      const { workspace } = site
      const asked: string[] = []
      const attempts = ['no/x', 'no/missing', 'fixed/x', `${skillsPath}/search.md`]
      if (site.store.capabilities.symlinks) {
        for (const [name, target] of [
          ['to-no', 'no/x'],
          ['to-fixed', 'fixed/x'],
          ['to-out', '../../../etc/passwd'],
        ] as const) {
          await site.link(name, target)
          attempts.push(name)
        }
        await site.link('to-a', 'dir/a')
        await workspace.edit('to-a', { oldText: 'x', newText: 'y' })
        equal(await site.stored('dir/a'), 'y', 'through a link')
        equal((await workspace.stat('to-a')).type, 'symlink', 'the link')
      }
      for (const path of attempts) {
        const code = await codeOf(
          workspace.edit(path, (content) => {
            asked.push(path)
            return Uint8Array.of(...content, 1)
          }),
        )
        // in a mount at `/`, `etc` is a system name for real programs
        const expected = path === 'to-out' ? ['ENOENT', 'EBUSY'] : path.startsWith(skillsPath) ? ['EROFS'] : ['EACCES']
        check(expected.includes(code), `an edit of ${path} is ${code}`)
      }
      equal(asked, [], 'what a function saw')
      equal([await site.stored('no/x'), await site.stored('fixed/x')], ['x', 'x'], 'the files')
    })

    test('loses nothing among 8 writers of one file', {}, async (it) => {
      await checksVersions(it)
      const { workspace } = await it.open()
      const [writers, rounds] = [8, 5]
      const line = (writer: number, round: number): string => `writer ${writer} round ${round}\n`
      await workspace.write('shared', Array.from({ length: writers }, (_, writer) => line(writer, 0)).join(''))
      const work = Array.from({ length: writers }, async (_, writer) => {
        for (let round = 1; round <= rounds; round += 1)
          await workspace.edit(
            'shared',
            { oldText: line(writer, round - 1), newText: line(writer, round) },
            { timeout: 60_000 },
          )
      })
      await Promise.all(work)
      const expected = Array.from({ length: writers }, (_, writer) => line(writer, rounds)).join('')
      equal(await workspace.readText('shared'), expected, 'the last edits of all')
    })

    test('leaves one event in the audit, with its outcome', {}, async (it) => {
      await checksVersions(it)
      const site = await it.open({ files: { a: 'x', 'no/x': 'x' }, rules: (at) => [rules.deny(at('no'))] })
      const { workspace } = site
      const events: AccessEvent[] = []
      workspace.on('access', (event) => events.push(event))
      await workspace.edit('a', { oldText: 'x', newText: 'y' })
      await codeOf(workspace.edit('a', { oldText: 'x', newText: 'y' }))
      await codeOf(workspace.edit('no/x', { oldText: 'x', newText: 'y' }))
      for await (const entry of workspace.glob('a')) void entry
      await workspace.realPath('a')
      equal(
        events.map(({ operation, path, outcome, code }) => `${operation} ${path} ${outcome} ${code ?? ''}`.trim()),
        ['edit a allowed', 'edit a failed EINVAL', 'edit no/x denied EACCES', 'glob . allowed', 'realPath a allowed'],
        'the events',
      )
    })

    test('of a store that checks no versions is refused', {}, async (it) => {
      const site = await it.open({
        layer: (store) => {
          const capabilities = { ...store.capabilities, conditionalWrite: 'none' as const }
          return new Proxy(store, {
            get(target, key) {
              if (key === 'capabilities') return capabilities
              const value: unknown = Reflect.get(target, key, target)
              return typeof value === 'function' ? value.bind(target) : value
            },
          })
        },
      })
      const failure = await site.workspace
        .edit('file.txt', { oldText: 'a file', newText: '' })
        .catch((error: unknown) => error)
      check(isWorkspaceError(failure, 'ENOTSUP'), `the failure: ${String(failure)}`)
      equal(await site.stored('file.txt'), 'a file\n', 'the file')
    })
  })
}
