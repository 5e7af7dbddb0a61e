import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

import type { Answer, Request } from '../worker/protocol.ts'

const mebibyte = 1024 * 1024
/** Milliseconds between checks of a working thread's memory use. */
const watchInterval = 20

export class ThreadEnded extends Error {
  readonly by: 'memory' | 'crash'

  constructor(by: 'memory' | 'crash', options?: ErrorOptions) {
    super(`the thread ended: ${by}`, options)
    this.by = by
  }
}

export class Thread {
  readonly #worker: Worker
  readonly #maxMemory: number
  #ended = false

  constructor(maxMemory: number) {
    this.#maxMemory = maxMemory
    const name = import.meta.url.endsWith('.ts') ? 'main.ts' : 'main.js'
    this.#worker = new Worker(new URL(`../worker/${name}`, import.meta.url), {
      // Isolates the thread from this process: no variables, arguments, flags or standard streams.
      env: {},
      argv: [],
      execArgv: ['--no-warnings'],
      stdin: true,
      stdout: true,
      stderr: true,
      // The memory check ends the thread earlier. At this limit, a large array would make V8 end the whole process.
      resourceLimits: { maxOldGenerationSizeMb: Math.ceil((2 * maxMemory) / mebibyte) },
    })
    this.#worker.on('error', () => undefined)
    this.#worker.once('exit', () => {
      this.#ended = true
    })
  }

  get ended(): boolean {
    return this.#ended
  }

  /** @throws ThreadEnded; `signal.reason` while the thread still works: the caller must then end the thread */
  async ask(request: Request, transfer: readonly ArrayBuffer[], signal: AbortSignal): Promise<Answer> {
    signal.throwIfAborted()
    this.#worker.postMessage(request, transfer)
    const stop = new AbortController()
    const either = AbortSignal.any([stop.signal, signal])
    try {
      const exit = once(this.#worker, 'exit', { signal: either }).then(() => {
        throw new ThreadEnded('crash')
      })
      const message = once(this.#worker, 'message', { signal: either }) as Promise<[Answer]>
      const [answer] = await Promise.race([message, exit, this.#watch(either)])
      return answer
    } catch (error) {
      signal.throwIfAborted()
      throw error instanceof ThreadEnded ? error : endedBy(error)
    } finally {
      stop.abort()
    }
  }

  hold(busy: boolean): void {
    if (busy) this.#worker.ref()
    else this.#worker.unref()
  }

  onExit(listener: () => void): void {
    this.#worker.once('exit', listener)
  }

  async end(): Promise<void> {
    await this.#worker.terminate()
  }

  /** Rejects when V8 and buffers together take too much memory. V8 does not limit buffers. */
  #watch(signal: AbortSignal): Promise<never> {
    const { promise, reject } = Promise.withResolvers<never>()
    let asked = false
    const timer = setInterval(() => {
      if (asked) return
      asked = true
      void this.#worker.getHeapStatistics().then(
        ({ used_heap_size, external_memory }) => {
          asked = false
          if (used_heap_size + external_memory > this.#maxMemory) reject(new ThreadEnded('memory')) // @defence a PDF or source that never ends: that is a bomb is EFBIG
        },
        () => (asked = false), // the thread is not running yet, or has ended
      )
    }, watchInterval)
    signal.addEventListener('abort', () => clearInterval(timer), { once: true })
    return promise
  }
}

function endedBy(error: unknown): ThreadEnded {
  const { code } = error as { readonly code?: string }
  return new ThreadEnded(code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'memory' : 'crash', { cause: error })
}
