import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'

import { type Measurement, type Way, compare, own } from './measure.ts'
import { type Site, openSite } from './site.ts'

const MiB = 2 ** 20
/** MiB of resident memory, and the ratio to a plain spawn that is good enough there: Node forks, which costs by memory. */
const sizes = [
  { resident: 150, target: 0.6 },
  { resident: 1_000, target: 0.1 },
] as const
const atOnce = 50

/**
 * `true` by the same shell: a plain `child_process.spawn`, commands in sandboxes that are kept ready, and commands that
 * start cold at both roots. The names give the resident memory of this process.
 *
 * @param plain the spawn of a command line
 */
export async function measureStarts(
  report: (measurement: Measurement) => void,
  plain: (argv: readonly string[]) => Way['run'],
): Promise<void> {
  await using warm = await openSite({ at: '/workspace', executors: [createBubblewrapExecutor({ warm: true })] })
  await using cold = await openSite({ at: '/workspace', executors: [createBubblewrapExecutor()] })
  await using atRoot = await openSite({ at: '/', executors: [createBubblewrapExecutor()] })
  const reference = { name: 'plain spawn', run: plain(['/bin/sh', '-c', 'true']) }
  const ways = [
    { name: own, run: trueIn(warm) },
    { name: 'cold', run: trueIn(cold) },
    { name: 'cold at /', run: trueIn(atRoot) },
  ]
  const held: Buffer[] = []
  for (const { resident, target } of sizes) {
    while (process.memoryUsage.rss() < resident * MiB) held.push(Buffer.alloc(10 * MiB, 1))
    const name = `true at /workspace, kept ready, ${Math.round(process.memoryUsage.rss() / MiB)} MB resident`
    report(await compare('commands', { name, reference, ways, count: 1, target, budget: 6_000, maxRounds: 80 }))
  }
  held.length = 0
  const all = [reference, ...ways].map(({ name, run }): Way => ({ name, run: many(run) }))
  const [base = reference, ...others] = all
  const name = `${atOnce} × true at once, kept ready`
  report(await compare('commands', { name, reference: base, ways: others, count: atOnce, target: 1 }))
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
