import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'

import { failure, type Where } from '../errors.ts'
import type { Batch } from '../worker/copy-small.ts'

const mostWorkers = 4
const filesInBatch = 64

interface Waiting {
  readonly resolve: (rest: string[]) => void
  readonly reject: (error: unknown) => void
}

interface Member {
  readonly worker: Worker
  readonly waiting: Waiting[]
}

/** Threads that copy small files: a call of another thread takes longer than such a copy. */
export class Crew {
  readonly #members: readonly Member[]

  constructor(where: Where) {
    const module = new URL(`../worker/main.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url)
    this.#members = Array.from({ length: Math.min(mostWorkers, availableParallelism()) }, () => {
      const worker = new Worker(module, { env: {}, argv: [], execArgv: [] })
      const waiting: Waiting[] = []
      worker.on('message', (rest: string[]) => waiting.shift()?.resolve(rest))
      const end = (native?: unknown): void => {
        const details = { remedy: 'try again', native }
        for (const { reject } of waiting.splice(0))
          reject(failure(where, 'EIO', 'a thread that copied files has ended', details))
      }
      worker.on('error', end)
      worker.on('exit', () => end())
      return { worker, waiting }
    })
  }

  /** As `copySmall`, in parts beside one another. */
  async copy(batch: Batch): Promise<string[]> {
    const parts: Promise<string[]>[] = []
    for (let start = 0; start < batch.names.length; start += filesInBatch)
      parts.push(this.#ask({ ...batch, names: batch.names.slice(start, start + filesInBatch) }))
    // the caller closes the directories: no part may be left in work
    await Promise.allSettled(parts)
    return (await Promise.all(parts)).flat()
  }

  async end(): Promise<void> {
    await Promise.all(this.#members.map(({ worker }) => worker.terminate()))
  }

  #ask(batch: Batch): Promise<string[]> {
    const [first, ...others] = this.#members
    let idlest = first
    for (const one of others) if (idlest === undefined || one.waiting.length < idlest.waiting.length) idlest = one
    return new Promise((resolve, reject) => {
      idlest?.waiting.push({ resolve, reject })
      idlest?.worker.postMessage(batch)
    })
  }
}
