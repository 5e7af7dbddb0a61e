import { equal } from '../assert.ts'
import type { DoorSuite } from '../doors/suite.ts'

export function readingTests({ describe, test }: DoorSuite): void {
  describe('reading', () => {
    test('[PC25] by window counts lines from 0 and defines every edge', {}, async (it) => {
      const site = await it.open()
      await site.run(`printf '' > empty; printf 'a\\nb\\nc' > abc; printf 'a\\nb\\n' > end; seq 1 2001 > many`)
      const window = async (path: string, options = {}): Promise<unknown> => {
        const { lines, offset, nextOffset } = await site.workspace.readLines(path, options)
        return { lines, offset, nextOffset }
      }
      equal(await window('empty'), { lines: [], offset: 0 }, 'an empty file')
      equal(await window('abc'), { lines: ['a', 'b', 'c'], offset: 0 }, 'without a final newline')
      equal(await window('abc', { offset: 1, limit: 1 }), { lines: ['b'], offset: 1, nextOffset: 2 }, 'a window')
      equal(await window('abc', { offset: 9 }), { lines: [], offset: 3 }, 'behind the end')
      equal(await window('end', { limit: 2 }), { lines: ['a', 'b'], offset: 0 }, 'up to the final newline')
      const { lines, nextOffset } = await site.workspace.readLines('many')
      equal([lines.length, lines.at(-1), nextOffset], [2000, '2000', 2000], 'the default window')
    })

    test('[PC24] of large files takes any size', {}, async (it) => {
      const site = await it.open()
      await site.workspace.write('big.txt', 'x'.repeat(3_000_000))
      equal((await site.run('wc -c < big.txt')).trim(), '3000000', 'the size in a command')
    })
  })
}
