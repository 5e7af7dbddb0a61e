import { isWorkspaceError } from '@ws/core'
import { check, equal } from '../assert.ts'
import { at, body, decode, drain, encode } from './case.ts'
import type { Suite } from './suite.ts'

const offered = ['server', 'process'] as const

async function winners(attempts: readonly Promise<unknown>[], ...codes: string[]): Promise<number[]> {
  const won: number[] = []
  for (const [index, outcome] of (await Promise.allSettled(attempts)).entries()) {
    if (outcome.status === 'fulfilled') won.push(index)
    else {
      const error: unknown = outcome.reason
      check(isWorkspaceError(error) && codes.includes(error.code), `a loser failed with ${String(error)}`)
    }
  }
  return won
}

export function concurrencyTests({ describe, change }: Suite): void {
  describe('concurrency', () => {
    change('of 50 writers with the same version exactly one wins', { conditionalWrite: offered }, async (it) => {
      for (let round = 0; round < (it.deep ? 50 : 3); round += 1) {
        const ifVersion = await it.put('/a', 'start')
        const attempts = Array.from({ length: 50 }, (_, index) =>
          it.adapter.write(at('/a'), index % 2 === 0 ? encode(`${index}`) : body(`${index}`), { ifVersion }),
        )
        const won = await winners(attempts, 'ECONFLICT')
        equal(won.length, 1, 'the number of winners')
        equal(await it.text('/a'), `${won[0]}`)
      }
    })

    change('of 50 writers with `absent` exactly one wins', { conditionalWrite: offered }, async (it) => {
      for (let round = 0; round < (it.deep ? 50 : 3); round += 1) {
        const attempts = Array.from({ length: 50 }, (_, index) =>
          it.adapter.write(at(`/${round}`), index % 2 === 0 ? encode(`${index}`) : body(`${index}`), {
            ifVersion: 'absent',
          }),
        )
        const won = await winners(attempts, 'ECONFLICT')
        equal(won.length, 1, 'the number of winners')
        equal(await it.text(`/${round}`), `${won[0]}`)
      }
    })

    change('of 20 movers of one file exactly one wins', { atomicMove: true }, async (it) => {
      await it.put('/a', 'x')
      const attempts = Array.from({ length: 20 }, (_, index) => it.adapter.move(at('/a'), at(`/to-${index}`)))
      const won = await winners(attempts, 'ENOENT')
      equal(won.length, 1, 'the number of winners')
      equal(await it.paths('/'), [`/to-${won[0]}`])
    })

    change('readers during overwrites see old or new, never a mixture', {}, async (it) => {
      const contents = ['a', 'b', 'c'].map((letter, index) => letter.repeat(200_000 + index * 50_000))
      await it.put('/file', contents[0])
      let writing = true
      const rounds = it.deep ? 300 : 15
      const writer = (async () => {
        for (let round = 1; round <= rounds; round += 1) {
          const text = contents[round % 3] ?? ''
          await it.adapter.write(
            at('/file'),
            round % 2 === 0 ? encode(text) : body(text.slice(0, 100_000), text.slice(100_000)),
          )
        }
      })().finally(() => {
        writing = false
      })
      const reader = async (useStream: boolean): Promise<void> => {
        while (writing) {
          const { bytes, stat } = useStream
            ? await it.adapter
                .readStream(at('/file'))
                .then(async (opened) => ({ bytes: await drain(opened.stream), stat: opened.stat }))
            : await it.adapter.read(at('/file'))
          check(contents.includes(decode(bytes)), `a reader saw ${bytes.length} bytes that no writer wrote`)
          equal(stat.size, bytes.length, 'the size in the stat')
          await new Promise((resolve) => setImmediate(resolve))
        }
      }
      await Promise.all([writer, reader(false), reader(true)])
      equal(await it.paths('/'), ['/file'], 'what is left')
    })

    change('writers of many files do not disturb each other', {}, async (it) => {
      const files = Array.from({ length: 40 }, (_, index) => [`/d${index % 5}/f${index}`, `content ${index}`] as const)
      await Promise.all(files.map(([path, text]) => it.adapter.write(at(path), encode(text), { parents: true })))
      for (const [path, text] of files) equal(await it.text(path), text)
      await Promise.all(files.map(([path]) => it.adapter.delete(at(path))))
      const left = (await it.entries('/', { recursive: true })).filter(({ type }) => type === 'file')
      equal(left, [])
    })
  })
}
