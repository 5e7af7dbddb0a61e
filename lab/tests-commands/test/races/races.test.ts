/** @module-tag all */
import { fileOperations } from '@ws/core/adapter'
import { component, describeWith, deep } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { runControls } from '../../src/controls.ts'
import { leaksIn, sumCounts } from '../../src/counts.ts'
import { operations } from '../../src/operations.ts'
import { runRace } from '../../src/race.ts'
import { raceNames } from '../../src/racer.ts'
import { runStarts, startedIn } from '../../src/starts.ts'

const seed = 20_261_121
/** The number of operations of each race; each operation at least twice. */
const count = deep ? 1_000 : operations.length * 5
/** Commands that start under the race. Several are refused for each one. */
const starts = deep ? 30 : 5

it('each operation that rules judge is raced', () => {
  const raced = operations.map(({ name }) => name.split(/[ ,]/u)[0])
  expect(fileOperations.filter((name) => !raced.includes(name))).toEqual([])
})

describeWith(component('perl'), 'under a race with another process', () => {
  for (const race of raceNames) {
    it(`nothing outside is read, listed or changed, and nothing is left behind: ${race}`, {
      tags: 'rounds',
    }, async () => {
      const report = await runRace({ race, seed, operations: count })
      const total = sumCounts(report.counts.values())
      expect(report.findings).toEqual([])
      expect(leaksIn(total), JSON.stringify(total)).toBe(0)
      expect(total.operations).toBe(count)
      for (const { name } of operations) expect(report.counts.get(name)?.operations, name).toBeGreaterThan(0)
      // it was raced, and what was asked for was not simply refused
      expect(report.exchanges).toBeGreaterThan(count / 10)
      expect(total.done).toBeGreaterThan(count / 4)
      expect(total.refused).toBeGreaterThan(0)
    })
  }

  it('the race is real: looking first and reading then leaks under it', { timeout: 60_000 }, async () => {
    const controls = await runControls({ race: 'exchange', seed, operations: 5_000, untilLeak: true })
    for (const { name, leaked } of controls) expect(leaked, name).toBeGreaterThan(0)
  })
})

for (const executor of startedIn) {
  const needed = [component('perl'), component(executor === 'bubblewrap' ? 'bubblewrap' : 'landlock')]
  describeWith(needed, `commands that start in ${executor} under a race with another process`, () => {
    it(`see nothing outside and nothing denied, in ${starts} starts`, { tags: 'rounds' }, async () => {
      const report = await runStarts({ executor, seed, starts })
      expect(report.findings).toEqual([])
      expect(report).toMatchObject({ cheated: 0, untyped: 0 })
      expect(report.started).toBe(starts)
      expect(report.exchanges).toBeGreaterThan(starts)
    })
  })
}
