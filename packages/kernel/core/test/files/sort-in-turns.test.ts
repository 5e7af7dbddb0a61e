import { expect, it } from 'vitest'
import { Pace } from '../../src/adapter/pace.ts'
import { sortInTurns } from '../../src/files/sort-in-turns.ts'

it('sorts a list of any length', async () => {
  for (const length of [0, 1, 2000, 2001, 9999]) {
    const list = Array.from({ length }, (_, index) => (index * 7919) % 10_007)
    const compare = (left: number, right: number): number => left - right
    expect(await sortInTurns(list, compare, new Pace())).toEqual(list.toSorted(compare))
  }
})

it('ends when its signal says so', async () => {
  const stop = new AbortController()
  const list = Array.from({ length: 400_000 }, (_, index) => (index * 7919) % 400_009)
  const sorting = sortInTurns(list, (left, right) => left - right, new Pace(stop.signal))
  stop.abort(new Error('enough'))
  await expect(sorting).rejects.toThrow('enough')
})
