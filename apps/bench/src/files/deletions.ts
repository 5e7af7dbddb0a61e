import { join } from 'node:path'

import { type Measurement, repeat } from '../measure.ts'
import { settle } from '../settle.ts'
import { makeFile, makeTree } from '../site.ts'
import type { Case } from './case.ts'
import { freshDirectories } from './fresh-directories.ts'
import { measureCases } from './measure-cases.ts'

/** Measures deletions, in a process of its own: planting the trees to delete takes most of the time. */
export async function measureDeletions(report: (measurement: Measurement) => void): Promise<void> {
  await measureCases({ section: 'deletions', report, casesIn: deletingCases })
}

/** Milliseconds that planting trees may take; at least two rounds are planted. */
const plantingBudget = 12_000
const mostTrees = 6

/** Trees for every round, planted before the first of them is deleted. */
function treesToDelete(directory: string) {
  const used = new Map<string, number>()
  const of = (name: string, index: number): string => `doomed-${name}-${index}`
  return {
    async plant(names: readonly string[]): Promise<number> {
      await settle(directory)
      const end = performance.now() + plantingBudget
      let planted = 0
      while (planted < 3 || (planted < mostTrees && performance.now() < end)) {
        for (const name of names) makeTree(join(directory, of(name, planted)))
        planted += 1
      }
      return planted - 1 // one is for the run that warms up
    },
    /** The next one. */
    take(name: string): string {
      const index = used.get(name) ?? 0
      used.set(name, index + 1)
      return of(name, index)
    },
  }
}

function deletingCases(directory: string): Case[] {
  const deleted = freshDirectories(directory, 'deleted')
  const trees = treesToDelete(directory)
  return [
    {
      name: 'delete 5,000 recursively',
      operation: 'removeTree',
      target: 1.2,
      count: 1,
      budget: 10_000,
      prepare: trees.plant,
      work: ({ removeTree }, name) => repeat(() => removeTree(trees.take(name))),
    },
    {
      name: 'delete',
      operation: 'remove',
      count: 100,
      maxRounds: 6,
      before(name, count) {
        deleted.before(name)
        for (let index = 0; index < count; index += 1) makeFile(join(directory, deleted.of(name), `file-${index}`), '')
      },
      work: ({ remove }, name) => repeat((index) => remove(`${deleted.of(name)}/file-${index}`)),
    },
  ]
}
