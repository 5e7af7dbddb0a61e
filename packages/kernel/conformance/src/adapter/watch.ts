import { paths } from '@ws/core'
import type { AdapterOptions } from '@ws/core/adapter'
import { check } from '../assert.ts'
import { at, encode, offered, type Case } from './case.ts'
import type { Suite } from './suite.ts'

const needs = { watch: true, readOnly: false } as const

async function watch(it: Case, path: string, options?: AdapterOptions.Watch): Promise<AdapterOptions.Hints> {
  return offered(it.adapter.watch, 'watch').call(it.adapter, at(path), options)
}

/** Takes the hints, and checks that they cover paths. */
async function covers(hints: AdapterOptions.Hints, what: string, ...changed: readonly string[]): Promise<void> {
  const taken = await hints.take()
  for (const path of changed) {
    const isCovered = taken === undefined || [...taken].some((hint) => paths.isWithin(at(path), hint))
    check(isCovered, `after ${what}, no hint covers ${path}: ${[...(taken ?? [])].join(', ') || 'there is none'}`)
  }
}

export function watchTests({ describe, test }: Suite): void {
  describe('watch', () => {
    test('covers each change of an entry in the next hints', needs, async (it) => {
      const { adapter } = it
      await it.put('/dir/file')
      const hints = await watch(it, '/')
      const acts: Readonly<Record<string, readonly [() => Promise<unknown> | undefined, ...string[]]>> = {
        'a new file': [() => adapter.write(at('/dir/new'), encode('1')), '/dir/new'],
        'a write': [() => adapter.write(at('/dir/file'), encode('other')), '/dir/file'],
        'an append': [() => adapter.append?.(at('/dir/file'), encode('2')), '/dir/file'],
        'missing parents': [() => adapter.write(at('/a/b/file'), encode('1'), { parents: true }), '/a/b/file'],
        'a change below them': [() => adapter.write(at('/a/b/file'), encode('2')), '/a/b/file'],
        'a directory': [() => adapter.createDirectory(at('/made')), '/made'],
        'a change in it': [() => adapter.write(at('/made/file'), encode('1')), '/made/file'],
        'a move': [() => adapter.move(at('/made'), at('/moved')), '/made', '/moved/file'],
        'a change in a moved directory': [() => adapter.write(at('/moved/file'), encode('2')), '/moved/file'],
        'a copy': [() => adapter.copy(at('/a'), at('/copied'), { recursive: true }), '/copied/b/file'],
        'a change of a copy': [() => adapter.write(at('/copied/b/file'), encode('2')), '/copied/b/file'],
        'a mode': [() => adapter.chmod?.(at('/dir/file'), 0o600), ...(adapter.chmod ? ['/dir/file'] : [])],
        'a time': [
          () => adapter.utimes?.(at('/dir/file'), { modifiedAt: 1_000 }),
          ...(adapter.utimes ? ['/dir/file'] : []),
        ],
        'a link': [
          () => adapter.createSymlink?.(at('/dir/link'), 'file'),
          ...(adapter.createSymlink ? ['/dir/link'] : []),
        ],
        'a delete': [() => adapter.delete(at('/dir/file')), '/dir/file'],
        'a recursive delete': [() => adapter.delete(at('/a'), { recursive: true }), '/a/b/file'],
        'a directory at the old place': [() => adapter.createDirectory(at('/a')), '/a'],
        'a change at the old place': [() => adapter.write(at('/a/file'), encode('1')), '/a/file'],
      }
      for (const [what, [act, ...changed]] of Object.entries(acts)) {
        await act()
        await covers(hints, what, ...changed)
      }
      hints.close()
    })

    test('covers changes by another writer', needs, async (it) => {
      await it.put('/dir/file')
      const hints = await watch(it, '/dir')
      await it.put('/dir/file', 'by another')
      await covers(hints, 'a write', '/dir/file')
      await it.put('/dir/sub/new')
      await covers(hints, 'a new file', '/dir/sub/new')
      await it.put('/dir/sub/new', 'again')
      await covers(hints, 'a write of it', '/dir/sub/new')
      hints.close()
    })

    test('covers a path that is missing, and goes and comes with the directories above', needs, async (it) => {
      const hints = await watch(it, '/later/dir')
      for (const round of ['1', '2']) {
        await it.put('/later/dir/file', round)
        await covers(hints, 'a first file', '/later/dir/file')
        await it.put('/later/dir/file', `${round} again`)
        await covers(hints, 'a write', '/later/dir/file')
        await it.seed.delete(at('/later'), { recursive: true })
        await covers(hints, 'a delete above', '/later/dir/file')
      }
      hints.close()
    })

    test('without `recursive`, covers a directory and the entries in it', needs, async (it) => {
      await it.put('/dir/sub/file')
      const hints = await watch(it, '/dir', { recursive: false })
      await it.put('/dir/file')
      await covers(hints, 'a new file', '/dir/file')
      await it.seed.move(at('/dir'), at('/other'))
      await covers(hints, 'a move', '/dir')
      hints.close()
    })

    test('gives each of several watches its own hints', needs, async (it) => {
      const [one, other] = [await watch(it, '/'), await watch(it, '/')]
      await it.put('/file')
      await covers(one, 'a write', '/file')
      one.close()
      one.close()
      await covers(other, 'a write', '/file')
      await it.put('/second')
      await covers(other, 'a write after the end of the other watch', '/second')
      other.close()
    })
  })
}
