import { Worker } from 'node:worker_threads'

import { createSharedList, readStatus, type SharedList, slot, type Status } from './shared.ts'

/** Smallest number of entries for a second thread: a walk of fewer entries ends before the thread starts. */
const fewest = 2_000
/** Fraction of new or missing entries above which the list is created again. */
const mostWrong = 0.1

/**
 * A second thread that reads statuses of a large tree, from the last entry to the position of the walk. Stat mostly waits for the kernel.
 * The walk does not depend on the thread. It reads an entry itself if the thread has not read it yet.
 */
export class Ahead {
  #worker: Worker | undefined
  #list: SharedList | undefined
  #indexes = new Map<string, number>()
  #wrong = 0
  #number = 0
  /** The lowest index that the thread has read, as far as the walk knows. */
  #first = 0

  begin(): void {
    if (this.#list === undefined) return
    const { progress, places } = this.#list
    this.#number += 1
    this.#first = places.length
    Atomics.store(progress, slot.reached, -1)
    Atomics.store(progress, slot.wanted, this.#number)
    this.#worker?.postMessage(this.#number)
  }

  /** Returns an entry's status, if the thread has read it since {@link Ahead.begin}. Reports the position of the walk to the thread. */
  at(path: string): Status | undefined {
    const list = this.#list
    const index = list && this.#indexes.get(path)
    if (list === undefined || index === undefined) return undefined
    if (index < this.#first) {
      const { progress } = list
      Atomics.store(progress, slot.reached, index)
      if (Atomics.load(progress, slot.looking) !== this.#number) return undefined
      this.#first = Atomics.load(progress, slot.first)
      if (index < this.#first) return undefined
    }
    return readStatus(list, index)
  }

  end(): void {
    if (this.#list !== undefined) Atomics.store(this.#list.progress, slot.wanted, 0)
  }

  /** Stores the paths of the next scan, in order. `changes`: the number of new or removed paths. */
  expect(paths: ReadonlySet<string>, changes: number, placeOf: (path: string) => string): void {
    this.#wrong += changes
    const isRight = this.#list !== undefined && this.#wrong <= paths.size * mostWrong
    if (isRight || paths.size < fewest) return
    this.#wrong = 0
    this.#indexes = new Map([...paths].map((path, index) => [path, index]))
    this.#list = createSharedList([...paths].map(placeOf))
    this.#worker ??= this.#start()
    this.#worker.postMessage(this.#list)
  }

  close(): void {
    void this.#worker?.terminate()
  }

  #start(): Worker {
    const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
    const worker = new Worker(new URL(`thread.${extension}`, import.meta.url), {
      env: {},
      resourceLimits: { maxYoungGenerationSizeMb: 8 },
      argv: [],
      execArgv: ['--disable-warning=ExperimentalWarning'],
    })
    worker.unref()
    // After a failure of the worker, the walk reads all statuses itself.
    worker.on('error', () => {
      this.#list = undefined
    })
    return worker
  }
}
