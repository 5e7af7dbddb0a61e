import { requireDescriptors } from '@ws/process'
import { Worker } from 'node:worker_threads'

const mebibyte = 1024 * 1024
/** Milliseconds after which a thread that has nothing to do is given back. */
const idleTime = 30_000
/** That a thread has, and takes for its first file. */
const descriptorsOfThread = 5

export interface WorkerPoolOptions {
  /** Threads at most. */
  readonly size: number
  /** Bytes of heap of each. */
  readonly maxMemory: number
}

/**
 * Threads that run one command after another, since starting one costs some fifty times what a command costs. The
 * workspaces of one executor share them; nothing of a command is left in a thread but loaded code, and one that had to be
 * ended is not used again.
 */
export class WorkerPool {
  readonly #options: WorkerPoolOptions
  readonly #idle: { readonly worker: Worker; readonly timer: NodeJS.Timeout }[] = []
  readonly #waiting: (() => void)[] = []
  #busy = 0
  #users = 0

  constructor(options: WorkerPoolOptions) {
    this.#options = options
  }

  open(): void {
    this.#users++
  }

  /** A thread for one user, to be released or ended; waits while all are busy. Rejects with the signal's reason. */
  async acquire(signal: AbortSignal): Promise<Worker> {
    while (this.#busy >= this.#options.size) {
      const turn = Promise.withResolvers<void>()
      const cancel = () => turn.reject(signal.reason)
      this.#waiting.push(turn.resolve)
      signal.addEventListener('abort', cancel, { once: true })
      try {
        await turn.promise
      } finally {
        signal.removeEventListener('abort', cancel)
        const place = this.#waiting.indexOf(turn.resolve)
        if (place !== -1) this.#waiting.splice(place, 1)
      }
    }
    signal.throwIfAborted()
    const { worker, timer } = this.#idle.pop() ?? {}
    clearTimeout(timer)
    const taken = worker ?? this.#startOrPass()
    this.#busy++
    taken.removeAllListeners('exit').removeAllListeners('error')
    taken.ref()
    return taken
  }

  /** Gives a thread back that has finished its command. */
  release(worker: Worker): void {
    this.#freed()
    worker.removeAllListeners('exit').removeAllListeners('error')
    worker.on('error', () => undefined)
    worker.once('exit', () => this.#forget(worker))
    worker.unref()
    const timer = setTimeout(() => void worker.terminate(), idleTime)
    timer.unref()
    this.#idle.push({ worker, timer })
  }

  /** Ends a busy thread too. */
  async end(worker: Worker): Promise<void> {
    try {
      await worker.terminate()
    } finally {
      this.#freed()
    }
  }

  /** The last one who closes ends the threads. */
  async close(): Promise<void> {
    if (--this.#users > 0) return
    const idle = this.#idle.splice(0)
    await Promise.all(
      idle.map(({ worker, timer }) => {
        clearTimeout(timer)
        return worker.terminate()
      }),
    )
  }

  #forget(worker: Worker): void {
    const place = this.#idle.findIndex((entry) => entry.worker === worker)
    if (place !== -1) this.#idle.splice(place, 1)
  }

  #freed(): void {
    this.#busy--
    this.#waiting.shift()?.()
  }

  /** A turn that cannot be used is the next one's. */
  #startOrPass(): Worker {
    try {
      return this.#start()
    } catch (error) {
      this.#waiting.shift()?.()
      throw error
    }
  }

  /** @throws the system's error, where this process has too few descriptors left; Node's, where it has too many threads */
  #start(): Worker {
    requireDescriptors(descriptorsOfThread)
    const name = import.meta.url.endsWith('.ts') ? 'main.ts' : 'main.js'
    return new Worker(new URL(`../worker/${name}`, import.meta.url), {
      // Nothing of this process reaches it: no variables, no arguments, no flags, no standard streams.
      env: {},
      argv: [],
      execArgv: ['--no-warnings'],
      stdin: true,
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: Math.ceil(this.#options.maxMemory / mebibyte) },
    })
  }
}
