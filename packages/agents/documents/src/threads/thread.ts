import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

import type { Answer, Request } from '../worker/protocol.ts'

const mebibyte = 1024 * 1024
/** Milliseconds between two looks at the memory of a thread that works. */
const watchInterval = 20

/** The thread ended, by its own fault or since it took too much memory. */
export class ThreadEnded extends Error {
  readonly by: 'memory' | 'crash'

  constructor(by: 'memory' | 'crash', options?: ErrorOptions) {
    super(`the thread ended: ${by}`, options)
    this.by = by
  }
}

/** A worker thread that answers one request at a time, in bounded memory. */
export class Thread {
  readonly #worker: Worker
  readonly #maxMemory: number
  #ended = false

  constructor(maxMemory: number) {
    this.#maxMemory = maxMemory
    const name = import.meta.url.endsWith('.ts') ? 'main.ts' : 'main.js'
    this.#worker = new Worker(new URL(`../worker/${name}`, import.meta.url), {
      // Nothing of this process reaches it: no variables, no arguments, no flags, no standard streams.
      env: {},
      argv: [],
      execArgv: ['--no-warnings'],
      stdin: true,
      stdout: true,
      stderr: true,
      // The watch comes first. V8 would end the whole process at an array that does not fit into its limit.
      resourceLimits: { maxOldGenerationSizeMb: Math.ceil((2 * maxMemory) / mebibyte) },
    })
    this.#worker.on('error', () => undefined)
    this.#worker.once('exit', () => {
      this.#ended = true
    })
  }

  /** It cannot be asked any more. */
  get ended(): boolean {
    return this.#ended
  }

  /** @throws ThreadEnded; `signal.reason`, and the thread works on: end it. */
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

  /** Keeps the process alive, or not. */
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

  /** Rejects when the thread takes too much memory: that of V8, and buffers, which V8 does not limit. */
  #watch(signal: AbortSignal): Promise<never> {
    const { promise, reject } = Promise.withResolvers<never>()
    let asked = false
    const timer = setInterval(() => {
      if (asked) return
      asked = true
      void this.#worker.getHeapStatistics().then(
        ({ used_heap_size, external_memory }) => {
          asked = false
          if (used_heap_size + external_memory > this.#maxMemory) reject(new ThreadEnded('memory'))
        },
        () => (asked = false), // it is not running yet, or no more
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
