import { openSync, readSync } from 'node:fs'
import { readFile, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'

import { type Figures, type Measurement, drain, median, own, quantile } from './measure.ts'
import { makeDirectory, makeFile, makeTree, openSite } from './site.ts'

const milliseconds = 3_000

/** For how long the event loop is held by reads, listings and searches, at p99.9, in milliseconds; and when it is idle. */
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
  const idle = await heldDuring('idle', () => delay(5))
  for (const [name, { own: work, plain }] of Object.entries(loads)) {
    const figures = await heldDuring(own, work)
    if (plain !== undefined) figures.push(...(await heldDuring('fs.promises', plain)))
    report({
      section: 'event loop',
      name: `held at p99.9, ${name}`,
      against: 'ms',
      target: 1,
      figures: [...figures, ...idle],
    })
  }
}

/** Median: p99.9. Minimum: p50. Maximum: the longest. Once by what is done alone, once with garbage collection in it. */
async function heldDuring(way: string, work: () => Promise<unknown>): Promise<Figures[]> {
  await work()
  const watch = new LoopWatch()
  const end = performance.now() + milliseconds
  while (performance.now() < end) await work()
  const turns = await watch.end()
  const figures = (name: string, held: number[]): Figures => ({
    way: name,
    median: quantile(held, 0.999),
    min: median(held),
    max: Math.max(...held),
    samples: held.length,
  })
  return [
    figures(
      way,
      turns.map(({ held, collecting }) => Math.max(0, held - collecting)),
    ),
    figures(
      `${way} + GC`,
      turns.map(({ held }) => held),
    ),
  ]
}

interface Turn {
  readonly start: number
  readonly end: number
  /** Milliseconds. */
  readonly held: number
  /** Milliseconds of garbage collection in it. */
  collecting: number
}

/**
 * For how long the event loop is held. Each turn of it is timed, less the time that the thread has waited for a
 * processor in it, which other programs cause. A sample is the turn in which a timer of a millisecond would have fired.
 */
class LoopWatch {
  readonly #turns: Turn[] = []
  readonly #collections: PerformanceEntry[] = []
  readonly #observer = new PerformanceObserver((list) => this.#collections.push(...list.getEntries()))
  #running = true
  #start = performance.now()
  #waited = waitedForProcessor()
  /** Milliseconds of the next sample. */
  #next = this.#start

  constructor() {
    this.#observer.observe({ entryTypes: ['gc'] })
    const turn = (): void => {
      if (!this.#running) return
      this.#note()
      setImmediate(turn)
    }
    setImmediate(turn)
  }

  #note(): void {
    const now = performance.now()
    const waited = waitedForProcessor()
    if (now >= this.#next) {
      const held = Math.max(0, now - this.#start - (waited - this.#waited))
      this.#turns.push({ start: this.#start, end: now, held, collecting: 0 })
      this.#next = now + 1
    }
    this.#start = now
    this.#waited = waited
  }

  async end(): Promise<readonly Turn[]> {
    this.#running = false
    await delay(20) // collections are reported afterwards
    this.#observer.disconnect()
    let index = 0
    for (const { startTime, duration } of this.#collections) {
      while (index < this.#turns.length && (this.#turns[index]?.end ?? 0) < startTime) index += 1
      const turn = this.#turns[index]
      if (turn !== undefined && turn.start <= startTime) turn.collecting += duration
    }
    return this.#turns
  }
}

const buffer = Buffer.alloc(128)
const schedstat = openSync('/proc/thread-self/schedstat', 'r')

/** Milliseconds that this thread has waited for a processor since it began. */
function waitedForProcessor(): number {
  const length = readSync(schedstat, buffer, 0, buffer.length, 0)
  return Number(buffer.toString('latin1', 0, length).split(' ')[1]) / 1e6
}
