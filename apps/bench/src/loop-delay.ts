import { readFile, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'

import { type Figures, type Measurement, drain, own } from './measure.ts'
import { makeDirectory, makeFile, makeTree, openSite } from './site.ts'

const milliseconds = 1_500
/** Timers fire at most so often (ms): what is counted is the delay beyond that. */
const resolution = 1

/** For how long the event loop is held by reads, listings and searches: delay of a timer at p99.9, in milliseconds. */
export async function measureLoopDelay(report: (measurement: Measurement) => void): Promise<void> {
  await using site = await openSite()
  const { directory, workspace } = site
  makeDirectory(join(directory, 'dir'))
  makeFile(join(directory, 'dir/small.txt'), new Uint8Array(4_096).fill(120))
  makeTree(join(directory, 'tree'))
  const root = workspace.root
  const file = join(directory, 'dir/small.txt')
  const many = (work: () => Promise<unknown>): Promise<unknown> => Promise.all(Array.from({ length: 1_000 }, work))
  const loads: Record<string, { own: () => Promise<unknown>; plain?: () => Promise<unknown> }> = {
    'reads one by one': { own: () => workspace.read(`${root}/dir/small.txt`), plain: () => readFile(file) },
    '1,000 reads at once': {
      own: () => many(() => workspace.read(`${root}/dir/small.txt`)),
      plain: () => many(() => readFile(file)),
    },
    'recursive lists of 5,000 with size and time': {
      own: () => drain(workspace.list(`${root}/tree`, { recursive: true, details: true })),
      async plain() {
        const entries = await readdir(join(directory, 'tree'), { recursive: true })
        await Promise.all(entries.map((path) => stat(join(directory, 'tree', path))))
      },
    },
    'searches of 5,000 files': { own: () => drain(workspace.search('nothing of the kind', { in: `${root}/tree` })) },
  }
  const idle = await delayDuring('idle', () => delay(5))
  for (const [name, { own: work, plain }] of Object.entries(loads)) {
    const figures = [await delayDuring(own, work)]
    if (plain !== undefined) figures.push(await delayDuring('fs.promises', plain))
    report({
      section: 'event loop',
      name: `p99.9 of its delay, ${name}`,
      against: 'ms',
      target: 1,
      figures: [...figures, idle],
    })
  }
}

/** Median: p99.9. Minimum: p50. Maximum: the longest. */
async function delayDuring(way: string, work: () => Promise<unknown>): Promise<Figures> {
  await work()
  const histogram = monitorEventLoopDelay({ resolution })
  histogram.enable()
  const end = performance.now() + milliseconds
  while (performance.now() < end) await work()
  histogram.disable()
  const beyond = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e6 - resolution)
  return {
    way,
    median: beyond(histogram.percentile(99.9)),
    min: beyond(histogram.percentile(50)),
    max: beyond(histogram.max),
    samples: Number(histogram.count),
  }
}
