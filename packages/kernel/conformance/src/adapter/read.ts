import { check, equal, rejects } from '../assert.ts'
import { at, pattern } from './case.ts'
import type { Suite } from './suite.ts'

export function readTests({ describe, test }: Suite): void {
  describe('read', () => {
    test('gives the bytes as they are, with the stat of what was read', {}, async (it) => {
      for (const [path, content] of [
        ['/all', pattern(256)],
        ['/empty', new Uint8Array()],
        ['/large', pattern(1_500_000)],
      ] as const) {
        await it.put(path, content)
        const { bytes, stat } = await it.adapter.read(at(path))
        equal(bytes, content, path)
        equal({ ...stat }, { ...(await it.adapter.stat(at(path))) }, `the stat of ${path}`)
        equal(stat.size, content.length, 'size')
      }
    })

    test('gives a range, and the stat of the whole file with it', {}, async (it) => {
      const content = pattern(1000)
      await it.put('/a', content)
      for (const range of [
        { offset: 0, length: 10 },
        { offset: 300, length: 400 },
        { offset: 999, length: 1 },
        { offset: 990 },
        { offset: 990, length: 100 },
        { offset: 0 },
        { offset: 500, length: 0 },
      ]) {
        const { bytes, stat } = await it.adapter.read(at('/a'), { range })
        const end = range.length === undefined ? undefined : range.offset + range.length
        equal(bytes, content.subarray(range.offset, end), JSON.stringify(range))
        equal(stat.size, 1000, 'the size')
      }
    })

    test('gives no more than `maxBytes` at once: EFBIG, with the remedy', {}, async (it) => {
      await it.put('/a', pattern(1000))
      await it.put('/large', pattern(200_000))
      const { remedy } = await rejects(it.adapter.read(at('/a'), { maxBytes: 999 }), 'EFBIG', { path: '/a' })
      check(remedy?.includes('readStream') === true, `the remedy should name \`readStream\`: ${remedy}`)
      await rejects(it.adapter.read(at('/large'), { maxBytes: 199_999 }), 'EFBIG', { path: '/large' })
      equal((await it.adapter.read(at('/a'), { maxBytes: 1000 })).bytes.length, 1000)
      const part = await it.adapter.read(at('/a'), { maxBytes: 10, range: { offset: 995, length: 100 } })
      equal(part.bytes.length, 5)
      await rejects(it.adapter.read(at('/a'), { maxBytes: 10, range: { offset: 0 } }), 'EFBIG')
    })

    test('gives nothing at and behind the end', {}, async (it) => {
      await it.put('/a', pattern(10))
      await it.put('/empty', '')
      for (const offset of [10, 11, 1_000_000]) {
        equal((await it.adapter.read(at('/a'), { range: { offset, length: 5 } })).bytes.length, 0, `from ${offset}`)
      }
      equal((await it.adapter.read(at('/empty'), { range: { offset: 0, length: 5 } })).bytes.length, 0)
    })

    test('refuses an invalid range', {}, async (it) => {
      await it.put('/a', pattern(10))
      for (const range of [{ offset: -1 }, { offset: 0.5 }, { offset: Number.NaN }, { offset: 0, length: -1 }]) {
        await rejects(it.adapter.read(at('/a'), { range }), 'EINVAL', { what: JSON.stringify(range) })
        await rejects(it.adapter.readStream(at('/a'), { range }), 'EINVAL', { what: JSON.stringify(range) })
      }
    })

    test('gives bytes that are the caller’s own', {}, async (it) => {
      await it.put('/a', 'abc')
      const { bytes } = await it.adapter.read(at('/a'))
      bytes.fill(0)
      equal(await it.text('/a'), 'abc')
    })

    test('of a missing path is ENOENT, of a directory EISDIR', {}, async (it) => {
      await it.put('/dir/a')
      await rejects(it.adapter.read(at('/none')), 'ENOENT', { path: '/none' })
      await rejects(it.adapter.read(at('/dir/none')), 'ENOENT', { path: '/dir/none' })
      await rejects(it.adapter.read(at('/dir')), 'EISDIR', { path: '/dir' })
      await rejects(it.adapter.read(at('/')), 'EISDIR', { path: '/' })
    })

    test('below a file is ENOTDIR', { enforcesHierarchy: true }, async (it) => {
      await it.put('/a')
      await rejects(it.adapter.read(at('/a/b')), 'ENOTDIR', { path: '/a/b' })
    })
  })
}
