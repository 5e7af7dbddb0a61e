import { check, equal, rejection, rejects } from '../assert.ts'
import { at, body, encode, pattern } from './case.ts'
import type { Suite } from './suite.ts'

export function writeTests({ describe, change }: Suite): void {
  describe('write', () => {
    change('creates and replaces, and tells version and size', {}, async (it) => {
      for (const content of [pattern(10), new Uint8Array(), pattern(1_500_000), pattern(3)]) {
        const { version, size } = await it.adapter.write(at('/a'), content)
        equal(size, content.length, 'the size')
        equal((await it.adapter.read(at('/a'))).bytes, content)
        equal(version, await it.version('/a'), 'the version')
      }
    })

    change('takes a stream of chunks', {}, async (it) => {
      const data = body('one', '', pattern(200_000), 'two')
      const { size } = await it.adapter.write(at('/a'), data)
      equal(size, 200_006, 'the size')
      equal((await it.adapter.read(at('/a'), { range: { offset: 200_003 } })).bytes, encode('two'))
      await it.adapter.write(at('/b'), body())
      equal((await it.adapter.stat(at('/b'))).size, 0, 'the size of an empty stream')
    })

    change('takes a part of a larger array', {}, async (it) => {
      await it.adapter.write(at('/a'), pattern(100).subarray(10, 20))
      equal((await it.adapter.read(at('/a'))).bytes, pattern(100).subarray(10, 20))
    })

    change('over a directory is EISDIR, with the body untouched', {}, async (it) => {
      await it.put('/dir/a')
      const data = body('x')
      await rejects(it.adapter.write(at('/dir'), data), 'EISDIR', { path: '/dir' })
      check(!data.touched, 'the body was read before the check')
      equal(await it.tree(), ['directory /dir ', 'file /dir/a content'])
    })

    change('without a parent is ENOENT, with the body untouched', { enforcesHierarchy: true }, async (it) => {
      const data = body('x')
      await rejects(it.adapter.write(at('/none/a'), data), 'ENOENT', { path: '/none/a' })
      check(!data.touched, 'the body was read before the check')
      equal(await it.tree(), [])
    })

    change('below a file is ENOTDIR, also with `parents`', { enforcesHierarchy: true }, async (it) => {
      await it.put('/a')
      for (const path of ['/a/b', '/a/b/c']) {
        const data = body('x')
        await rejects(it.adapter.write(at(path), data, { parents: true }), 'ENOTDIR', { path })
        check(!data.touched, 'the body was read before the check')
      }
      equal(await it.tree(), ['file /a content'])
    })

    change('makes missing parents when asked to', {}, async (it) => {
      await it.adapter.write(at('/x/y/z'), encode('deep'), { parents: true })
      await it.adapter.write(at('/x/y/w'), body('stream'), { parents: true })
      equal(await it.tree(), ['directory /x ', 'directory /x/y ', 'file /x/y/w stream', 'file /x/y/z deep'])
    })

    change('leaves the old content and no trace when its body fails', {}, async (it) => {
      await it.put('/a', 'old')
      const failure = new Error('the body failed')
      async function* failing(): AsyncGenerator<Uint8Array> {
        yield pattern(300_000)
        throw failure
      }
      for (const path of ['/a', '/b']) {
        const error = await rejection(it.adapter.write(at(path), failing()))
        check(error === failure, `it should reject with the body’s own error, not ${String(error)}`)
      }
      equal(await it.tree(), ['file /a old'])
    })

    change('shows nothing of the new content before it is complete', {}, async (it) => {
      await it.put('/a', 'old')
      const seen: string[][] = []
      async function* watching(): AsyncGenerator<Uint8Array> {
        yield pattern(300_000)
        seen.push(await it.paths('/', { recursive: true }), [await it.text('/a')])
        yield pattern(300_000)
      }
      await it.adapter.write(at('/a'), watching())
      equal(seen, [['/a'], ['old']], 'what a reader saw meanwhile')
      equal((await it.adapter.stat(at('/a'))).size, 600_000, 'the size')
    })

    change('refuses content of another type', {}, async (it) => {
      for (const data of ['text', undefined, null, 5, {}]) {
        await rejects(it.adapter.write(at('/a'), data as unknown as Uint8Array), 'EINVAL', {
          what: JSON.stringify(data),
        })
      }
      await rejects(it.adapter.write(at('/a'), body(...(['x', 5] as string[]))), 'EINVAL', { what: 'a chunk' })
      equal(await it.tree(), [])
    })

    change('sets the mode of a new file, and keeps that of a replaced one', { modes: true }, async (it) => {
      await it.adapter.write(at('/a'), encode('x'), { mode: 0o750 })
      equal((await it.adapter.stat(at('/a'))).mode, 0o750, 'the mode of a new file')
      await it.adapter.write(at('/a'), encode('y'))
      await it.adapter.write(at('/a'), body('z'), { mode: 0o600 })
      equal((await it.adapter.stat(at('/a'))).mode, 0o750, 'the mode of a replaced file')
    })

    change('says that it keeps a given time, and then does', {}, async (it) => {
      for (const [data, modifiedAt] of [
        [encode('x'), 981_173_106_000],
        [body('y'), 1_000],
      ] as const) {
        const written = await it.adapter.write(at('/a'), data, { modifiedAt })
        if (written.modifiedAt === undefined) continue
        equal([written.modifiedAt, (await it.adapter.stat(at('/a'))).modifiedAt], [modifiedAt, modifiedAt])
      }
    })
  })
}
