/**
 * Measures the cost of the adapter against the plain `fs.promises` call, in one run, as medians of several rounds. Run
 * by hand: `node --conditions=@ws/source bench/ratios.ts` from the package, on a quiet machine.
 */
import {
  mkdir,
  mkdtemp,
  open,
  opendir,
  readFile,
  readdir,
  realpath,
  rm,
  stat,
  unlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'

import { createLocalAdapter } from '@ws/adapter-local'
import { parseMountPath } from '@ws/core/adapter'

const rounds = 9
const root = await realpath(await mkdtemp(join(tmpdir(), 'ws-bench-')))
const adapter = await createLocalAdapter({ root })
const path = (text: string) => parseMountPath(text)
const content = new Uint8Array(4_096).fill(120)

type Work = (count: number) => Promise<void>

async function time(work: Work, count: number): Promise<number> {
  const start = performance.now()
  await work(count)
  return ((performance.now() - start) * 1_000) / count
}

const median = (values: number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

interface Case {
  readonly name: string
  readonly target: number
  readonly count: number
  readonly plain: Work
  readonly confined: Work
  readonly before?: () => Promise<void>
}

async function compare({ name, target, count, plain, confined, before }: Case): Promise<void> {
  const ratios: number[] = []
  const own: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    await before?.()
    const reference = await time(plain, count)
    await before?.()
    const ours = await time(confined, count)
    own.push(ours)
    ratios.push(ours / reference)
  }
  const ratio = median(ratios)
  const verdict = ratio <= target ? 'ok' : 'MISSED'
  console.log(
    `${name.padEnd(34)} ${ratio.toFixed(2).padStart(6)} (target ${target}) ${median(own).toFixed(1).padStart(9)} µs  ${verdict}`,
  )
}

const repeat =
  (work: (index: number) => Promise<unknown>): Work =>
  async (count) => {
    for (let index = 0; index < count; index += 1) await work(index)
  }

await mkdir(join(root, 'dir'))
await writeFile(join(root, 'dir/file'), content)
await mkdir(join(root, 'many'))
for (let index = 0; index < 2_000; index += 1) await writeFile(join(root, `many/entry-${index}`), '')
async function plantTree(name: string): Promise<void> {
  for (let directory = 0; directory < 50; directory += 1) {
    await mkdir(join(root, name, `d${directory}`), { recursive: true })
    for (let file = 0; file < 99; file += 1) await writeFile(join(root, name, `d${directory}/f${file}`), '')
  }
}
await plantTree('tree')

const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()

const count = 2_000
await compare({
  name: 'read 4 KiB',
  target: 0.12,
  count,
  plain: repeat(() => readFile(join(root, 'dir/file'))),
  confined: repeat(() => adapter.read(path('/dir/file'))),
})
await compare({
  name: 'stat',
  target: 0.35,
  count,
  plain: repeat(() => stat(join(root, 'dir/file'))),
  confined: repeat(() => adapter.stat(path('/dir/file'))),
})
await compare({
  name: 'list 2,000 with types',
  target: 0.95,
  count: 10,
  plain: repeat(() => readdir(join(root, 'many'), { withFileTypes: true })),
  confined: repeat(async () => {
    for await (const entry of adapter.list(path('/many'))) void entry
  }),
})
await compare({
  name: 'list 2,000 with details',
  target: 0.5,
  count: 3,
  plain: repeat(async () => {
    for await (const entry of await opendir(join(root, 'many'))) await stat(join(root, 'many', entry.name))
  }),
  confined: repeat(async () => {
    for await (const entry of adapter.list(path('/many'), { details: true })) void entry
  }),
})
await compare({
  name: 'list 2,000 with details (all at once)',
  target: 0.5,
  count: 3,
  plain: repeat(async () => {
    const names = await readdir(join(root, 'many'))
    await Promise.all(names.map((name) => stat(join(root, 'many', name))))
  }),
  confined: repeat(async () => {
    for await (const entry of adapter.list(path('/many'), { details: true })) void entry
  }),
})
await compare({
  name: 'atomic write 4 KiB over a file',
  target: 0.95,
  count: 300,
  plain: repeat(() => writeFile(join(root, 'dir/plain'), content)),
  confined: repeat(() => adapter.write(path('/dir/atomic'), content)),
})
await compare({
  name: 'atomic write 4 KiB, new names',
  target: 0.95,
  count: 300,
  before: async () => {
    await rm(join(root, 'new'), { recursive: true, force: true })
    await mkdir(join(root, 'new'))
  },
  plain: repeat((index) => writeFile(join(root, `new/p${index}`), content)),
  confined: repeat((index) => adapter.write(path(`/new/c${index}`), content)),
})
await compare({
  name: 'exclusive create and delete',
  target: 0.35,
  count: 500,
  plain: repeat(async () => {
    const file = await open(join(root, 'dir/excl'), 'wx')
    await file.close()
    await unlink(join(root, 'dir/excl'))
  }),
  confined: repeat(async () => {
    await adapter.write(path('/dir/excl'), new Uint8Array(0), { ifVersion: 'absent' })
    await adapter.delete(path('/dir/excl'))
  }),
})
await compare({
  name: 'recursive list of 5,000',
  target: 0.55,
  count: 3,
  plain: repeat(() => readdir(join(root, 'tree'), { recursive: true, withFileTypes: true })),
  confined: repeat(async () => {
    for await (const entry of adapter.list(path('/tree'), { recursive: true })) void entry
  }),
})
await compare({
  name: 'recursive delete of 5,000',
  target: 1.15,
  count: 1,
  before: () => plantTree('doomed'),
  plain: () => rm(join(root, 'doomed'), { recursive: true }),
  confined: () => adapter.delete(path('/doomed'), { recursive: true }),
})
delay.disable()

const busy = monitorEventLoopDelay({ resolution: 1 })
busy.enable()
await Promise.all(Array.from({ length: 20_000 }, () => adapter.read(path('/dir/file'))))
for (let index = 0; index < 20_000; index += 1) await adapter.read(path('/dir/file'))
for await (const entry of adapter.list(path('/tree'), { recursive: true, details: true })) void entry
busy.disable()
const ms = (ns: number): string => (ns / 1e6).toFixed(2)
console.log(
  `event loop delay while reading and listing (ms): p50 ${ms(busy.percentile(50))} p99 ${ms(busy.percentile(99))} max ${ms(busy.max)}`,
)
await adapter.close()
await rm(root, { recursive: true })
