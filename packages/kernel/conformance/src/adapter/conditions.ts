import { check, equal, rejects } from '../assert.ts'
import { at, body, encode } from './case.ts'
import type { Suite } from './suite.ts'

const offered = ['server', 'process'] as const

export function conditionTests({ describe, test, change }: Suite): void {
  describe('versions', () => {
    change('change with every change, also to what looks the same', { uniqueVersions: true }, async (it) => {
      const seen = new Set<string>()
      const rounds = 20
      for (let round = 0; round < rounds; round += 1) {
        const { version } = await it.adapter.write(at('/a'), encode('same'))
        check(version !== 'absent', 'a version is the word `absent`')
        seen.add(version)
      }
      equal(seen.size, rounds, 'the number of different versions')
    })

    change('do not come back with a file that is made anew', { uniqueVersions: true }, async (it) => {
      const { version } = await it.adapter.write(at('/a'), encode('same'))
      await it.adapter.delete(at('/a'))
      check((await it.adapter.write(at('/a'), encode('same'))).version !== version, 'the version came back')
    })

    change('change with the content', {}, async (it) => {
      const seen = new Set<string>()
      for (let round = 0; round < 20; round += 1) {
        seen.add((await it.adapter.write(at('/a'), encode(`${round}`))).version)
      }
      equal(seen.size, 20, 'the number of different versions')
    })

    test('stay as long as nothing changes, and are the same everywhere', {}, async (it) => {
      await it.put('/dir/a', 'x')
      const version = await it.version('/dir/a')
      equal((await it.adapter.read(at('/dir/a'))).stat.version, version, 'the version of read')
      const { stat, stream } = await it.adapter.readStream(at('/dir/a'))
      await stream.return?.()
      equal(stat.version, version, 'the version of readStream')
      const [entry] = await it.entries('/dir', { details: true })
      equal(entry?.version, version, 'the version of list')
      equal(await it.version('/dir/a'), version, 'the version of stat')
    })
  })

  describe('conditions', () => {
    test('read: another version is ECONFLICT', {}, async (it) => {
      await it.put('/a', 'x')
      const ifVersion = await it.version('/a')
      equal((await it.adapter.read(at('/a'), { ifVersion })).bytes, encode('x'))
      await (await it.adapter.readStream(at('/a'), { ifVersion })).stream.return?.()
      await it.put('/a', 'y')
      await rejects(it.adapter.read(at('/a'), { ifVersion }), 'ECONFLICT', { path: '/a' })
      await rejects(it.adapter.readStream(at('/a'), { ifVersion }), 'ECONFLICT', { path: '/a' })
      await rejects(it.adapter.read(at('/none'), { ifVersion }), 'ENOENT', { path: '/none' })
    })

    change(
      'write: a condition holds as well where the caller has listed the place',
      {
        conditionalWrite: offered,
      },
      async (it) => {
        const write = (ifVersion: string, text: string) =>
          it.adapter.write(at('/a'), encode(text), { ifVersion, listed: true, parents: true })
        const { version } = await write('absent', '1')
        await rejects(write('absent', '2'), 'ECONFLICT', { path: '/a' })
        await write(version, '3')
        await rejects(write(version, '4'), 'ECONFLICT', { path: '/a' })
        equal((await it.adapter.read(at('/a'))).bytes, encode('3'))
      },
    )

    change('write: replaces exactly that version', { conditionalWrite: offered }, async (it) => {
      const { version } = await it.adapter.write(at('/a'), encode('1'))
      const second = await it.adapter.write(at('/a'), encode('2'), { ifVersion: version })
      for (const stale of [version, 'never']) {
        const data = body('x')
        await rejects(it.adapter.write(at('/a'), data, { ifVersion: stale }), 'ECONFLICT', { path: '/a' })
        check(!data.touched, 'the body was read before the check')
        await rejects(it.adapter.write(at('/a'), encode('x'), { ifVersion: stale }), 'ECONFLICT', { path: '/a' })
      }
      await it.adapter.write(at('/a'), body('3'), { ifVersion: second.version })
      equal(await it.text('/a'), '3')
    })

    change('write: a version of a missing file is ECONFLICT', { conditionalWrite: offered }, async (it) => {
      const { version } = await it.adapter.write(at('/a'), encode('1'))
      await it.adapter.delete(at('/a'))
      await rejects(it.adapter.write(at('/a'), encode('2'), { ifVersion: version }), 'ECONFLICT', { path: '/a' })
      equal(await it.tree(), [])
    })

    change('write: `absent` creates, and never replaces', { conditionalWrite: offered }, async (it) => {
      await it.adapter.write(at('/a'), encode('1'), { ifVersion: 'absent' })
      await it.adapter.write(at('/x/b'), body('2'), { ifVersion: 'absent', parents: true })
      for (const path of ['/a', '/x']) {
        const data = body('x')
        await rejects(it.adapter.write(at(path), data, { ifVersion: 'absent' }), 'ECONFLICT', { path })
        check(!data.touched, 'the body was read before the check')
      }
      equal(await it.tree(), ['directory /x ', 'file /a 1', 'file /x/b 2'])
    })

    change('write: a change while the body is read counts too', { conditionalWrite: offered }, async (it) => {
      const { version } = await it.adapter.write(at('/a'), encode('1'))
      async function* meddling(path: string): AsyncGenerator<Uint8Array> {
        yield encode('x')
        await it.adapter.write(at(path), encode('2'))
        yield encode('x')
      }
      await rejects(it.adapter.write(at('/a'), meddling('/a'), { ifVersion: version }), 'ECONFLICT', { path: '/a' })
      await rejects(it.adapter.write(at('/b'), meddling('/b'), { ifVersion: 'absent' }), 'ECONFLICT', { path: '/b' })
      equal(await it.tree(), ['file /a 2', 'file /b 2'])
    })

    change('delete: only that version', { conditionalDelete: offered }, async (it) => {
      const ifVersion = await it.put('/a', '1')
      await it.put('/a', '2')
      await rejects(it.adapter.delete(at('/a'), { ifVersion }), 'ECONFLICT', { path: '/a' })
      await rejects(it.adapter.delete(at('/a'), { ifVersion, force: true }), 'ECONFLICT', { path: '/a' })
      equal(await it.tree(), ['file /a 2'])
      await rejects(it.adapter.delete(at('/none'), { ifVersion }), 'ENOENT', { path: '/none' })
      await it.adapter.delete(at('/a'), { ifVersion: await it.version('/a') })
      equal(await it.tree(), [])
    })

    for (const operation of ['move', 'copy'] as const) {
      change(`${operation}: the source in that version only`, { conditionalMove: offered }, async (it) => {
        const stale = await it.put('/a', '1')
        const ifSource = await it.put('/a', '2')
        await rejects(it.adapter[operation](at('/a'), at('/b'), { ifSource: stale }), 'ECONFLICT', { path: '/a' })
        equal(await it.tree(), ['file /a 2'])
        await it.adapter[operation](at('/a'), at('/b'), { ifSource })
        equal(await it.text('/b'), '2')
      })

      change(`${operation}: the destination in that version, or absent`, { conditionalMove: offered }, async (it) => {
        await it.put('/a', 'new')
        const stale = await it.put('/b', '1')
        const current = await it.put('/b', '2')
        const to = (path: string, ifDestination: string): Promise<unknown> =>
          it.adapter[operation](at('/a'), at(path), { ifDestination, overwrite: true })
        await rejects(to('/b', stale), 'ECONFLICT', { path: '/b' })
        await rejects(to('/b', 'absent'), 'ECONFLICT', { path: '/b' })
        await rejects(to('/none', stale), 'ECONFLICT', { path: '/none' })
        equal(await it.tree(), ['file /a new', 'file /b 2'])
        const without = it.adapter[operation](at('/a'), at('/b'), { ifDestination: current })
        await rejects(without, 'EEXIST', { path: '/b', what: 'without `overwrite`' })
        await to('/b', current)
        equal(await it.text('/b'), 'new')
        await it.put('/a', 'newer')
        await to('/c', 'absent')
        equal(await it.text('/c'), 'newer')
      })
    }

    change('write: not offered is ENOTSUP', { conditionalWrite: 'none' }, async (it) => {
      const version = await it.put('/a', '1')
      for (const ifVersion of [version, 'absent']) {
        await rejects(it.adapter.write(at('/a'), encode('2'), { ifVersion }), 'ENOTSUP')
        await rejects(it.adapter.write(at('/b'), encode('2'), { ifVersion }), 'ENOTSUP')
      }
      equal(await it.tree(), ['file /a 1'])
    })

    change('delete: not offered is ENOTSUP', { conditionalDelete: 'none' }, async (it) => {
      const ifVersion = await it.put('/a', '1')
      await rejects(it.adapter.delete(at('/a'), { ifVersion }), 'ENOTSUP')
      equal(await it.tree(), ['file /a 1'])
    })

    change('move and copy: not offered is ENOTSUP', { conditionalMove: 'none' }, async (it) => {
      const ifSource = await it.put('/a', '1')
      for (const options of [{ ifSource }, { ifDestination: 'absent' }]) {
        await rejects(it.adapter.move(at('/a'), at('/b'), options), 'ENOTSUP')
        await rejects(it.adapter.copy(at('/a'), at('/b'), options), 'ENOTSUP')
      }
      equal(await it.tree(), ['file /a 1'])
    })
  })
}
