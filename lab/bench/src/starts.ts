import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'

import { type Measurement, type Way, compare, own } from './measure.ts'
import { type Site, openSite } from './site.ts'

const MiB = 2 ** 20
/** MiB of resident memory. Node forks, which costs by memory. */
const sizes = [150, 1_000] as const
const atOnce = 50

interface Place {
  readonly name: string
  readonly at: '/' | '/workspace'
  readonly warm?: { readonly keepNames: true } | undefined
  /** Ratios to a plain spawn that are good enough, for each of the sizes. */
  readonly targets: readonly [number, number]
}

const places: readonly Place[] = [
  { name: '/workspace', at: '/workspace', targets: [0.6, 0.1] },
  { name: '/ with its names kept', at: '/', warm: { keepNames: true }, targets: [0.6, 0.1] },
  { name: '/', at: '/', targets: [1, 1] },
]

/** `true` by a shell: plain, in sandboxes kept ready, and cold, with this process's memory. @param plain the spawn */
export async function measureStarts(
  report: (measurement: Measurement) => void,
  plain: (argv: readonly string[]) => Way['run'],
): Promise<void> {
  const reference = { name: 'plain spawn', run: plain(['/bin/sh', '-c', 'true']) }
  const held: Buffer[] = []
  for (const [index, resident] of sizes.entries()) {
    while (process.memoryUsage.rss() < resident * MiB) held.push(Buffer.alloc(10 * MiB, 1))
    for (const { name, at, warm, targets } of places) {
      await using ready = await openSite({ at, executors: [createBubblewrapExecutor({ warm })] })
      await using cold = await openSite({ at, executors: [createBubblewrapExecutor({ warm: false })] })
      const ways = [
        { name: own, run: trueIn(ready) },
        { name: 'cold', run: trueIn(cold) },
      ]
      const title = `true at ${name}, ${Math.round(process.memoryUsage.rss() / MiB)} MB resident`
      const target = targets[index]
      report(
        await compare('commands', { name: title, reference, ways, count: 1, target, budget: 5_000, maxRounds: 80 }),
      )
    }
  }
  held.length = 0
  for (const { name, at, warm } of places) {
    await using ready = await openSite({ at, executors: [createBubblewrapExecutor({ warm })] })
    const base = { ...reference, run: many(reference.run) }
    const ways = [{ name: own, run: many(trueIn(ready)) }]
    const title = `${atOnce} × true at once at ${name}`
    report(await compare('commands', { name: title, reference: base, ways, count: atOnce, target: 1 }))
  }
}

function trueIn({ workspace }: Site): Way['run'] {
  return async () => {
    const { exitCode, stderr } = await workspace.exec('true', { shell: '/bin/sh', login: false })
    if (exitCode !== 0) throw new Error(`exit ${exitCode}: ${stderr}`)
  }
}

function many(run: Way['run']): Way['run'] {
  return (count) => Promise.all(Array.from({ length: count }, () => run(1)))
}
