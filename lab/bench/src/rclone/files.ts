import { setTimeout as delay } from 'node:timers/promises'

import { type Comparison, type Way, repeat } from '../measure.ts'
import type { FileTarget } from './targets.ts'
import type { FileWay } from './ways.ts'

const total = 1_000
/** How many of those files a round works on. */
const count = 100
/** The highest ratio to the time that the bare mount takes. */
const target = 1.1

/** Create, stat, read, list and delete. All ways into one target work on the same files. */
export async function fileComparisons(reference: FileWay, ways: readonly FileWay[]): Promise<Comparison[]> {
  const windows = new Map<FileTarget, Window>()
  for (const { target } of [reference, ...ways]) {
    if (windows.has(target)) continue
    windows.set(target, new Window(target))
    await target.fill([...names, 'new/first'])
    await target.settle()
  }
  const compared = (name: string, wayOf: (way: FileWay) => Omit<Way, 'name'>): Comparison => {
    const named = (way: FileWay): Way => ({ name: way.name, ...wayOf(way) })
    return { name, reference: named(reference), ways: ways.map(named), count, target, budget: 6_000 }
  }
  /** One file after the other, each of them unknown to the kernel. */
  const each = (name: string, work: (way: FileWay, path: string) => Promise<unknown>): Comparison =>
    compared(name, (way) => {
      const window = windows.get(way.target)
      return {
        before: async () => await window?.advance(),
        run: repeat((index) => work(way, window?.path(index) ?? '')),
      }
    })

  const made = new Map<FileWay, string[]>()
  let next = 0
  const create = async (way: FileWay, how: 'create' | 'createWhole' = 'create'): Promise<void> => {
    const path = `new/f${(next += 1)}`
    await way[how](path)
    made.set(way, [...(made.get(way) ?? []), path])
  }
  const creating = (name: string, how: 'create' | 'createWhole'): Comparison => ({
    ...compared(name, (way) => ({
      before: () => way.target.settle(), // no upload of the last round runs beside this one
      run: repeat(() => create(way, how)),
    })),
    budget: 8_000,
  })
  return [
    creating('create a file of 1 KiB', 'create'),
    creating('the same in one step, as ours always are', 'createWhole'),
    each('stat a file', (way, path) => way.stat(path)),
    each('read a file of 1 KiB', (way, path) => way.read(path)),
    {
      ...compared(`list ${total.toLocaleString('en')} files with size and time`, (way) => ({
        before: () => delay(way.target.maxStaleness),
        run: repeat(() => way.list('files')),
      })),
      count: 1,
    },
    compared('delete a file', (way) => ({
      before: async () => {
        while ((made.get(way)?.length ?? 0) < count) await create(way)
        await way.target.settle()
      },
      run: repeat(() => way.remove(made.get(way)?.pop() ?? '')),
    })),
  ]
}

const names: readonly string[] = Array.from({ length: total }, (_, index) => `files/f${index}`)

/** Goes through the files, so that the kernel has to ask for each again: it has forgotten those that come a second time. */
class Window {
  readonly #target: FileTarget
  #start = total
  #began = Number.NEGATIVE_INFINITY

  constructor(target: FileTarget) {
    this.#target = target
  }

  async advance(): Promise<void> {
    this.#start += count
    if (this.#start + count <= total) return
    const left = this.#began + this.#target.maxStaleness - performance.now()
    if (left > 0) await delay(left)
    this.#start = 0
    this.#began = performance.now()
  }

  path(index: number): string {
    return names[this.#start + index] ?? ''
  }
}
