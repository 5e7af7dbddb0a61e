import { check, equal, rejects } from '../assert.ts'
import { at, drain, pattern } from './case.ts'
import type { Suite } from './suite.ts'

export function readStreamTests({ describe, test, change }: Suite): void {
  describe('readStream', () => {
    test('gives the bytes in order, with the stat', {}, async (it) => {
      for (const [path, size] of [
        ['/empty', 0],
        ['/small', 10],
        ['/large', 3_000_000],
      ] as const) {
        await it.put(path, pattern(size))
        const { stat, stream } = await it.adapter.readStream(at(path))
        equal(await drain(stream), pattern(size), path)
        equal({ ...stat }, { ...(await it.adapter.stat(at(path))) }, `the stat of ${path}`)
      }
    })

    test('gives a range', {}, async (it) => {
      const content = pattern(300_000)
      await it.put('/a', content)
      for (const [offset, length] of [
        [0, 100_000],
        [100_000, 150_000],
        [299_999, 10],
        [300_000, 10],
        [7, undefined],
      ] as const) {
        const { stat, stream } = await it.adapter.readStream(at('/a'), { range: { offset, length } })
        const end = length === undefined ? undefined : offset + length
        equal(await drain(stream), content.subarray(offset, end), `${offset}, ${length}`)
        equal(stat.size, 300_000, 'the size')
      }
    })

    test('can be left early, and before the first chunk', {}, async (it) => {
      await it.put('/a', pattern(500_000))
      for (let round = 0; round < 20; round += 1) {
        const { stream } = await it.adapter.readStream(at('/a'))
        for await (const chunk of stream) {
          check(chunk.length > 0, 'a chunk is empty')
          break
        }
        equal((await stream.next()).done, true, 'done')
        const unread = await it.adapter.readStream(at('/a'))
        equal((await unread.stream.return?.())?.done, true, 'done')
        equal((await unread.stream.next()).done, true, 'done')
      }
    })

    test('rejects at once, not in the stream', {}, async (it) => {
      await it.put('/dir/a')
      await rejects(it.adapter.readStream(at('/none')), 'ENOENT', { path: '/none' })
      await rejects(it.adapter.readStream(at('/dir')), 'EISDIR', { path: '/dir' })
      await rejects(it.adapter.readStream(at('/dir/a'), { ifVersion: 'another' }), 'ECONFLICT', { path: '/dir/a' })
    })

    change('goes on with the content it was opened on, when the file is replaced or deleted', {}, async (it) => {
      const content = pattern(2_000_000)
      for (const replace of [
        () => it.adapter.write(at('/a'), pattern(2_000_000, 7)),
        () => it.adapter.delete(at('/a')),
      ]) {
        await it.put('/a', content)
        const { stream } = await it.adapter.readStream(at('/a'))
        const first = await stream.next()
        await replace()
        const rest = await drain(stream)
        const read = new Uint8Array(content.length)
        read.set(first.value ?? [])
        read.set(rest, first.value?.length ?? 0)
        equal((first.value?.length ?? 0) + rest.length, content.length, 'the length')
        equal(read, content)
      }
    })
  })
}
