import { describe, expect, it } from 'vitest'

import { paths } from '../../src/index.ts'
import { defineAdapter, fileTimes } from '../../src/adapter.ts'
import type { Stat } from '../../src/index.ts'
import { driverOf, file } from './driver.ts'

const wild = [8.64e15 + 1, -8.64e15 - 1, 1e21, Infinity, -Infinity]
const known = [-8.64e15, -1, 0, 1.5, 8.64e15]

describe('[HO4] a time of a store', () => {
  it('is unknown where no Date holds it', () => {
    for (const time of wild) expect(fileTimes.dateable(time)).toBeUndefined()
    for (const time of known) {
      expect(fileTimes.dateable(time)).toBe(time)
      expect(new Date(time).toISOString()).toMatch(/Z$/u)
    }
  })

  it('is unknown in each result of a driver, and nothing else of the result is', async () => {
    for (const modifiedAt of [...wild, ...known]) {
      const stat: Stat = { ...file, modifiedAt }
      const stream = async function* (): AsyncGenerator<Uint8Array, undefined> {
        yield new Uint8Array()
        return undefined
      }
      const adapter = defineAdapter(
        driverOf({
          stat: async () => stat,
          read: async () => ({ bytes: new Uint8Array(), stat }),
          readStream: async () => ({ stat, stream: stream() }),
          list: async function* () {
            yield { path: paths.parseMount('/a'), name: 'a', ...stat }
            return undefined
          },
        }),
      )
      const path = paths.parseMount('/a')
      const expected = { ...file, modifiedAt: wild.includes(modifiedAt) ? undefined : modifiedAt }
      expect(await adapter.stat(path)).toEqual(expected)
      expect((await adapter.read(path)).stat).toEqual(expected)
      expect((await adapter.readStream(path)).stat).toEqual(expected)
      expect(await Array.fromAsync(adapter.list(paths.parseMount('/')))).toEqual([{ path, name: 'a', ...expected }])
    }
  })

  it('is clamped where a store or an archive holds less', () => {
    expect([-5, 7, 1e15].map(fileTimes.settable)).toEqual([0, 7, 253_402_300_799_999])
    expect([-5, 7_000, 8.64e15].map((time) => fileTimes.forTar(time).getTime())).toEqual([
      0,
      7_000,
      0x7fff_ffff * 1_000,
    ])
  })
})
