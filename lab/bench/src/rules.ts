import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import { type Rule, rules } from '@ws/core'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'

import { compare, own, repeat, type Report, type Way } from './measure.ts'
import { makeDirectory, makeFile, openSite, runIn } from './site.ts'

const root = '/workspace'
const directories = 1_000
const filesEach = 10
/** Milliseconds after which a new directory can be remembered once it is listed. */
const settling = 50

/** Compares a command under rules with one without, in a tree of 10,000 files, and measures the walk for pattern rules. */
export async function measureRules(report: Report): Promise<void> {
  const both = [rules.protectSecrets(), rules.protectHooks()]
  await using sites = new AsyncDisposableStack()
  const command = async (given: readonly Rule[]): Promise<Way['run']> => {
    const site = sites.use(await openSite({ at: root, executors: [createBubblewrapExecutor()], rules: given }))
    fill(site.directory)
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
  fill(site.directory)
  await delay(settling)
  const walk = repeat(async () => await site.workspace.explain({ operation: 'exec', path: root }))
  report(
    await compare('rules', {
      name: 'walk for rules by pattern, 10,000 files in 1,000 directories',
      reference: { name: 'readdirSync of each directory', run: repeat(async () => walkNow(site.directory)) },
      ways: [{ name: own, run: walk }],
      count: 1,
      target: 1.5,
      maxRounds: 60,
    }),
  )
}

function fill(path: string): void {
  for (let directory = 0; directory < directories; directory += 1) {
    const at = join(path, `part${directory % 10}/directory${directory}`)
    makeDirectory(at)
    for (let file = 0; file < filesEach; file += 1) makeFile(join(at, `file${file}.ts`), '')
  }
}

function walkNow(path: string): number {
  let count = 0
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    count += entry.isDirectory() ? walkNow(`${path}/${entry.name}`) : 1
  }
  return count
}
