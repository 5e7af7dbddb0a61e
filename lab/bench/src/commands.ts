import { spawn } from 'node:child_process'

import { type Rule, rules } from '@ws/core'
import type { Executor } from '@ws/core/executor'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createProotExecutor } from '@ws/executor-proot'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { asOwner } from '@ws/test-fixtures'

import { compare, drain, failed, own, type Report, together, type Way } from './measure.ts'
import { openSite, runIn, runPlainly, type Site } from './site.ts'

interface Door {
  readonly name: string
  readonly at: '/' | '/workspace'
  readonly create: () => Executor
  /** The rules that the executor can enforce. Default: the usual rules. */
  readonly rules?: readonly Rule[] | undefined
}

const at = '/workspace'
const doors: readonly Door[] = [
  { name: 'bubblewrap, started cold', at, create: () => createBubblewrapExecutor({ warm: false }) },
  { name: 'bubblewrap with proot', at: '/', create: () => createBubblewrapExecutor({ root: 'translated' }) },
  {
    name: 'proot',
    at,
    create: () => createProotExecutor(),
    rules: [rules.withinWorkspace(at), rules.deny(`${at}/secrets`), rules.deny(`${at}/.env`)],
  },
  { name: 'virtual', at, create: () => createVirtualExecutor() },
]

const MiB = 2 ** 20
/** MiB of resident memory. Node forks, and the cost of a fork grows with memory. */
const sizes = [150, 1_000] as const
const atOnce = 50

interface Scenario {
  readonly name: string
  readonly at: '/' | '/workspace'
  readonly warm?: { readonly keepNames: true } | undefined
  /** Acceptable ratios to a plain spawn, for each of the sizes. */
  readonly targets: readonly [number, number]
}

const places: readonly Scenario[] = [
  { name: '/workspace', at, targets: [0.6, 0.1] },
  { name: '/ with its names kept', at: '/', warm: { keepNames: true }, targets: [0.6, 0.1] },
  { name: '/', at: '/', targets: [1, 1] },
]

const plain = { name: 'plain spawn', run: () => runPlainly(['/bin/sh', '-c', 'true']) }

export async function measureCommands(report: Report): Promise<void> {
  for (const door of doors) await measureDoor(door, report)
  const held: Buffer[] = []
  for (const [index, resident] of sizes.entries()) {
    while (process.memoryUsage.rss() < resident * MiB) held.push(Buffer.alloc(10 * MiB, 1))
    for (const place of places) await measureStart(place, place.targets[index], report)
  }
  held.length = 0
  await measureOutput(report)
  for (const place of places) {
    await using ready = await openSite({ at: place.at, executors: [createBubblewrapExecutor({ warm: place.warm })] })
    const ways = [{ name: own, run: together(trueIn(ready)) }]
    const name = `${atOnce} × true at once at ${place.name}`
    const reference = { ...plain, run: together(plain.run) }
    report(await compare('commands', { name, reference, ways, count: atOnce, target: 1 }))
  }
}

async function measureDoor({ name, create, ...door }: Door, report: Report): Promise<void> {
  const title = `true, ${name}, mount at ${door.at}`
  try {
    await using site = await openSite({ ...door, executors: [create()] })
    const run = trueIn(site)
    await run(1)
    const ways = [{ name: own, run }]
    const most = { count: 1, budget: 6_000, maxRounds: 80 }
    report(await compare('commands', { name: title, reference: plain, ways, ...most }))
  } catch (error) {
    report({ section: 'commands', name: title, against: plain.name, figures: [failed(own, error)] })
  }
}

/** Measures starts in warm and in cold sandboxes, with the present memory of this process. */
async function measureStart(place: Scenario, target: number | undefined, report: Report): Promise<void> {
  const { name, warm, at } = place
  await using ready = await openSite({ at, executors: [createBubblewrapExecutor({ warm })] })
  await using cold = await openSite({ at, executors: [createBubblewrapExecutor({ warm: false })] })
  const ways = [
    { name: own, run: trueIn(ready) },
    { name: 'cold', run: trueIn(cold) },
  ]
  const title = `true at ${name}, ${Math.round(process.memoryUsage.rss() / MiB)} MB resident`
  const most = { count: 1, target, budget: 5_000, maxRounds: 80 }
  report(await compare('commands', { name: title, reference: plain, ways, ...most }))
}

async function measureOutput(report: Report): Promise<void> {
  await using site = await openSite({ executors: [createBubblewrapExecutor()] })
  const words = ['/bin/sh', '-c', `head -c ${64 * MiB} /dev/zero`] as const
  const ours = async () => {
    await using running = await site.workspace.spawn(words[2], { shell: words[0], login: false })
    await drain(running.stdout)
  }
  const run = () => drain(spawn(words[0], words.slice(1), { ...asOwner(), cwd: '/' }).stdout)
  const ways = [{ name: own, run: ours }]
  const name = '64 MiB of output, block by block'
  report(await compare('commands', { name, reference: { name: plain.name, run }, ways, count: 1, target: 1.5 }))
}

function trueIn({ workspace }: Site): Way['run'] {
  return () => runIn(workspace)
}
