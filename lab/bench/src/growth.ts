import { join } from 'node:path'

import { rules } from '@ws/core'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'

import { drain, own, type Report, summary } from './measure.ts'
import { plantHay } from './search.ts'
import { makeDirectory, makeFile, openSite, runIn } from './site.ts'

const sizes = [1_000, 10_000, 100_000] as const

/** Measures how this process's processor time grows with the number of files: 1 is linear. */
export async function measureGrowth(report: Report): Promise<void> {
  const times = new Map<string, number[]>()
  for (const size of sizes) await measureAt(size, (name, time) => times.set(name, [...(times.get(name) ?? []), time]))
  for (const [name, [few = 0, some = 0, most = 0]] of times) {
    const steps = [Math.log10(some / few), Math.log10(most / some)]
    const figures = [{ ...summary(own, steps), median: Math.log10(most / few) / 2, microseconds: most }]
    report({ section: 'growth', name, against: 'exponent', target: 1.1, figures })
  }
}

async function measureAt(size: number, note: (name: string, time: number) => void): Promise<void> {
  const both = [rules.protectSecrets(), rules.protectHooks()]
  await using site = await openSite({ executors: [createBubblewrapExecutor()], rules: both })
  const { workspace, directory } = site
  makeDirectory(join(directory, 'flat'))
  for (let index = 0; index < size; index += 1) makeFile(join(directory, `flat/f${index}`), '')
  makeFile(join(directory, 'lines.txt'), 'one line of text\n'.repeat(size))
  plantHay(join(directory, 'hay'), size)
  const time = async (name: string, work: () => Promise<unknown>, rounds = 3): Promise<void> => {
    let least = Infinity
    for (let round = 0; round < rounds; round += 1) {
      const before = process.cpuUsage()
      await work()
      const { user, system } = process.cpuUsage(before)
      least = Math.min(least, user + system)
    }
    note(name, least)
  }
  const search = (pattern: string, regex: boolean) => drain(workspace.search(pattern, { in: 'hay', regex }))
  await time('first command, both protect sets', () => runIn(workspace), 1)
  await time('later command, both protect sets', () => runIn(workspace))
  await time('list one directory', () => drain(workspace.list('flat')))
  await time('list recursively', () => drain(workspace.list('hay', { recursive: true })))
  await time('glob', () => drain(workspace.glob('hay/**/*.txt')))
  await time('search for text', () => search('needle-7', false))
  await time('search for an expression', () => search('needle-[57]\\b', true))
  await time('search without a fixed text', () => search('[x-z]{3}', true), 1)
  await time('read all lines', () => workspace.readLines('lines.txt', { limit: size }))
  await time('delete a tree', () => workspace.delete('hay', { recursive: true }), 1)
}
