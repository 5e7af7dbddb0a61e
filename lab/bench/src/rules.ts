import { readdirSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

import { type Rule, rules } from '@ws/core'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'

import { compare, own, repeat, type Report, type Way } from './measure.ts'
import { makeTree, openSite, runIn } from './site.ts'

const root = '/workspace'
const tree = [1_000, 10] as const
/** Milliseconds after which a new directory can be remembered once it is listed. */
const settling = 50

/** Compares a command under rules with one without, in a tree of 10,000 files, and measures the walk for pattern rules. */
export async function measureRules(report: Report): Promise<void> {
  const both = [rules.protectSecrets(), rules.protectHooks()]
  await using sites = new AsyncDisposableStack()
  const command = async (given: readonly Rule[]): Promise<Way['run']> => {
    const site = sites.use(await openSite({ at: root, executors: [createBubblewrapExecutor()], rules: given }))
    makeTree(site.directory, tree)
    return () => runIn(site.workspace)
  }
  const reference = { name: 'without rules', run: await command([]) }
  for (const [name, given] of [
    ['protectSecrets and protectHooks', both],
    ['deny of a file', [rules.deny(`${root}/.env`)]],
    ['deny of a missing name', [rules.deny(`${root}/later`)]],
  ] as const) {
    const ways = [{ name: own, run: await command(given) }]
    const options = { reference, ways, count: 1, maxRounds: 60 }
    report(await compare('rules', { name: `true among 10,000 files, ${name}`, ...options }))
  }

  // Without an executor, the measurement consists almost only of the walk.
  const site = sites.use(await openSite({ at: root, rules: both }))
  makeTree(site.directory, tree)
  await delay(settling)
  const walk = repeat(async () => await site.workspace.explain({ operation: 'exec', path: root }))
  report(
    await compare('rules', {
      name: 'walk for rules by pattern, 10,000 files in 1,000 directories',
      reference: {
        name: 'readdirSync',
        run: repeat(async () => readdirSync(site.directory, { recursive: true, withFileTypes: true })),
      },
      ways: [{ name: own, run: walk }],
      count: 1,
      target: 1.5,
      maxRounds: 60,
    }),
  )
}
