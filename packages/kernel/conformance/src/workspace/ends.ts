import { rules } from '@ws/core'
import { check, equal } from '../assert.ts'
import { codeOf } from '../doors/site.ts'
import type { DoorSuite } from '../doors/suite.ts'

async function* chunks(size: number, count: number): AsyncGenerator<Uint8Array> {
  // one reused buffer, as in programs that stream files
  const buffer = new Uint8Array(size)
  for (let index = 0; index < count; index += 1) yield buffer.fill(97 + (index % 26))
}

export function endTests({ describe, test }: DoorSuite): void {
  describe('the end of a file', () => {
    test('is read as the last bytes, or the whole of a shorter file', {}, async (it) => {
      const { workspace } = await it.open()
      const content = Uint8Array.from({ length: 200_000 }, (_, index) => (index * 31) % 256)
      await workspace.write('big', content)
      await workspace.write('empty', '')
      for (const last of [0, 1, 10, 70_000, 200_000, 1_000_000, Number.MAX_SAFE_INTEGER]) {
        const expected = last === 0 ? new Uint8Array() : content.slice(-last)
        const { bytes, stat } = await workspace.read('big', { range: { last } })
        equal(bytes, expected, `the last ${last}`)
        equal(stat.size, 200_000, 'the size')
        const streamed = await workspace.readStream('big', { range: { last } })
        const parts = await Array.fromAsync(streamed.stream)
        equal(Uint8Array.from(parts.flatMap((part) => [...part])), expected, `the last ${last} as a stream`)
      }
      equal((await workspace.read('empty', { range: { last: 5 } })).bytes.length, 0, 'of an empty file')
      equal(await workspace.readText('file.txt', { range: { last: 5 } }), 'file\n', 'as text')
      equal(await codeOf(workspace.read('big', { range: { last: 100 }, maxBytes: 99 })), 'EFBIG', 'above `maxBytes`')
      equal(await codeOf(workspace.read('.', { range: { last: 1 } })), 'EISDIR', 'of a directory')
      equal(await codeOf(workspace.read('none', { range: { last: 1 } })), 'ENOENT', 'of a missing file')
    })

    test('[PC25] is read as the last lines, counted from the start', {}, async (it) => {
      const { workspace } = await it.open()
      const end = async (content: string | Uint8Array, last: number): Promise<unknown> => {
        await workspace.write('lines', content)
        const { lines, offset, nextOffset } = await workspace.readLines('lines', { last })
        return { lines, offset, nextOffset }
      }
      equal(await end('', 3), { lines: [], offset: 0 }, 'an empty file')
      equal(await end('a\nb\nc', 2), { lines: ['b', 'c'], offset: 1 }, 'without a final newline')
      equal(await end('a\nb\nc\n', 2), { lines: ['b', 'c'], offset: 1 }, 'with a final newline')
      equal(await end('a\r\nb\r\n', 1), { lines: ['b'], offset: 1 }, 'with CRLF')
      equal(await end('a\nb\n', 9), { lines: ['a', 'b'], offset: 0 }, 'more than there are')
      equal(await end('\n\n\n', 2), { lines: ['', ''], offset: 1 }, 'blank lines')
      equal(await end('\n', 1), { lines: [''], offset: 0 }, 'one blank line')
      equal(await end('a\nb', 0), { lines: [], offset: 2 }, 'no lines')
      equal(await end(Uint8Array.of(255, 10, 98, 10), 1), { lines: ['b'], offset: 1 }, 'behind bytes that are not text')
      equal(await codeOf(end(Uint8Array.of(97, 10, 255, 10), 1)), 'EINVAL', 'bytes that are not text')
      equal(await codeOf(workspace.readLines('lines', { last: 1, offset: 0 })), 'EINVAL', 'with an offset')
      const numbers = Array.from({ length: 30_000 }, (_, index) => `line ${index}`)
      const { lines, offset } = (await end(`${numbers.join('\n')}\n`, 3)) as { lines: string[]; offset: number }
      equal([lines, offset], [numbers.slice(-3), 29_997], 'the end of a long file')
      equal(await codeOf(end(`x\n${'y'.repeat(1_100_000)}\n`, 1)), 'EFBIG', 'a line that is too long')
      const behind = (await end(`${'y'.repeat(3_000_000)}\nlast\n`, 1)) as { lines: string[]; offset: number }
      equal([behind.lines, behind.offset], [['last'], 1], 'behind a line that is too long')
    })

    test('gets what a stream holds, short or long, whole or not at all', {}, async (it) => {
      const site = await it.open({ rules: (at) => [rules.readOnly(at('fixed'))] })
      const { workspace } = site
      if (!site.store.capabilities.append) it.skip('capability append: false')
      async function* two(): AsyncGenerator<Uint8Array> {
        yield* chunks(3, 2)
      }
      const short = await workspace.append('file.txt', two())
      equal(short.size, 13, 'the size')
      equal(await workspace.readText('file.txt'), 'a file\naaabbb', 'a short stream')
      await workspace.append('new/made.txt', two())
      equal(await workspace.readText('new/made.txt'), 'aaabbb', 'a file that was missing')
      await workspace.flush() // a mount may change the version of a cached file at its upload
      const long = await workspace.append('file.txt', chunks(1_000_000, 9))
      equal(long.size, 9_000_013, 'the size')
      const { bytes } = await workspace.read('file.txt')
      equal(new TextDecoder().decode(bytes.slice(0, 15)), 'a file\naaabbbaa', 'the start of a long one')
      equal([bytes[1_000_012], bytes[1_000_013], bytes.at(-1)], [97, 98, 105], 'the parts of a long one')
      for (const count of [2, 10]) {
        async function* broken(): AsyncGenerator<Uint8Array> {
          yield* chunks(1_000_000, count)
          throw new Error('the source failed')
        }
        check((await codeOf(workspace.append('file.txt', broken()))) !== 'done', 'a source that fails')
        const reason = new Error('enough')
        const stop = new AbortController()
        async function* aborted(): AsyncGenerator<Uint8Array> {
          yield* chunks(1_000_000, count)
          stop.abort(reason)
          await new Promise(() => undefined)
        }
        const failure = await workspace
          .append('file.txt', aborted(), { signal: stop.signal })
          .catch((error: unknown) => error)
        check(failure === reason, `an abort rejects with its reason, not with ${String(failure)}`)
      }
      const kept = await workspace.read('file.txt')
      equal([kept.stat.size, kept.bytes.at(-1)], [9_000_013, 105], 'the file after failures')
      let read = 0
      async function* counted(): AsyncGenerator<Uint8Array> {
        for await (const chunk of chunks(1_000_000, 20)) {
          read += 1
          yield chunk
        }
      }
      equal(await codeOf(workspace.append('fixed/x', counted())), 'EACCES', 'a denied place')
      equal(read, 0, 'what was read of the stream')
      async function* racing(): AsyncGenerator<Uint8Array> {
        yield* chunks(1_000_000, 9)
        await workspace.append('file.txt', '!')
        yield* chunks(1_000_000, 1)
      }
      equal(await codeOf(workspace.append('file.txt', racing())), 'ECONFLICT', 'a file that changes meanwhile')
      equal((await workspace.stat('file.txt')).size, 9_000_014, 'the change is kept')
    })
  })
}
