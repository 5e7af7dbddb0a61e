import { equal } from '../assert.ts'
import type { DoorSuite } from '../doors/suite.ts'

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)

export function inputTests({ describe, test }: DoorSuite): void {
  describe('standard input', () => {
    test('is text, bytes or chunks, and comes whole', {}, async (it) => {
      const site = await it.open()
      async function* chunks(): AsyncGenerator<Uint8Array> {
        yield encode('one\n')
        yield encode('twö\n')
      }
      for (const stdin of ['one\ntwö\n', encode('one\ntwö\n'), chunks()]) {
        equal(await site.run('read first; echo "1 $first"; cat', { stdin }), '1 one\ntwö\n', 'the output')
      }
      const large = 'x'.repeat(1_000_000)
      equal((await site.run('wc -c', { stdin: large })).trim(), '1000000', 'the bytes that came')
    })

    test('ends at once where none is given', {}, async (it) => {
      const site = await it.open()
      const { stdout, timedOut } = await site.attempt('cat; echo ended', { timeout: 8_000, killGrace: 100 })
      equal({ stdout, timedOut }, { stdout: 'ended\n', timedOut: false }, 'the result of a command that reads')
    })

    test('that nobody reads does not hold the end up', { kind: 'process' }, async (it) => {
      const site = await it.open()
      async function* endless(): AsyncGenerator<Uint8Array> {
        for (;;) yield new Uint8Array(65_536)
      }
      const { exitCode, timedOut } = await site.attempt('exit 4', { stdin: endless(), timeout: 5_000, killGrace: 100 })
      equal({ exitCode, timedOut }, { exitCode: 4, timedOut: false }, 'the result')
    })
  })
}
